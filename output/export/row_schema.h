// SPDX-License-Identifier: GPL-2.0-or-later
// Defines the rows of events for all kinds of files. htmtrace-decode(1), avro, parquet, defines the
// schemas as an interface.
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
  kName,      // the index of an element of `names`
  kAccesses,  // a list of data accesses with ea and optional ra and la
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

// The fields of an access in such a list.
inline constexpr RowField kAccessFields[] = {
    {.name = "ea", .doc = "effective address"},
    {.name = "ra", .optional = true, .doc = "real address, if the trace contains it"},
    {.name = "la", .optional = true, .doc = "logical real address, if the memory map knows it"}};

// The rows of a core trace are instructions. The rows of a nest trace are commands, and responses
// without a command.
const RowSchema& core_row_schema();
const RowSchema& nest_row_schema();

}  // namespace htmtrace
