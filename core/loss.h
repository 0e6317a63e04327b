// SPDX-License-Identifier: GPL-2.0-or-later
// One finding of "this is not in the recording". Rings and sinks report losses; the ledger adds
// them up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace htmtrace {

// What an amount counts. With kUnknown the amount is unknowable and 0.
enum class LossUnit : uint8_t { kBytes, kRecords, kEntries, kUnknown };

struct Loss {
  std::string place;  // where: "AUX ring", "data ring", a file's name
  std::string cause;  // why, as words for the reader
  LossUnit unit = LossUnit::kUnknown;
  uint64_t amount = 0;
  // Where in the target's trace, in bytes from its beginning; nothing when it has no place there.
  std::optional<uint64_t> position = std::nullopt;

  bool operator==(const Loss&) const = default;
};

}  // namespace htmtrace
