// SPDX-License-Identifier: GPL-2.0-or-later
// What the rows of events are made of, whatever kind of file they go to. The schemas are an
// interface: htmtrace-decode(1), avro, parquet.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace htmtrace {

enum class FieldKind : uint8_t {
  kLong,  // 64 bits
  kInt,   // 32 bits
  kText,
  kName,      // one of `names`, by its number
  kAccesses,  // a list of data accesses, each with ea, ra and la, of which the last two are
              // optional
};

struct RowField {
  std::string_view name;
  FieldKind kind = FieldKind::kLong;
  bool optional = false;  // kLong, kInt and kText only
  std::string_view doc;
  std::span<const std::string_view> names = {};
};

struct RowSchema {
  std::string_view name;
  std::string_view doc;
  std::vector<RowField> fields;
};

// Of an access in a list of them.
inline constexpr RowField kAccessFields[] = {
    {.name = "ea", .doc = "effective address"},
    {.name = "ra", .optional = true, .doc = "real address, if the trace tells it"},
    {.name = "la", .optional = true, .doc = "logical real address, if the memory map knows it"}};

// An instruction of a core trace; a command of a nest trace, or a response without one.
const RowSchema& core_row_schema();
const RowSchema& nest_row_schema();

}  // namespace htmtrace
