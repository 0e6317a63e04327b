// SPDX-License-Identifier: GPL-2.0-or-later
// A part of the trace that is not in the recording, and the proof that no such part exists. Rings
// and sinks report losses; the ledger adds them up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace htmtrace {

// The unit of an amount. With kUnknown, the amount is unknown and 0.
enum class LossUnit : uint8_t { kBytes, kRecords, kEntries, kUnknown };

struct Loss {
  std::string place;  // "AUX ring", "data ring", or the name of a file
  std::string cause;  // the reason, in words for the user
  LossUnit unit = LossUnit::kUnknown;
  uint64_t amount = 0;
  // Offset in the target's trace in bytes. Empty when the loss has no known offset.
  std::optional<uint64_t> position = std::nullopt;

  bool operator==(const Loss&) const = default;
};

// The completeness of the trace or of the memory map of one target.
enum class Proof : uint8_t {
  kProven,       // the received bytes match the driver's count
  kNotProvable,  // the driver reports no count
  kViolated,     // the received bytes differ from the driver's count, or the driver did not reach
                 // the end
};

}  // namespace htmtrace
