// SPDX-License-Identifier: GPL-2.0-or-later
// The time that the stamps of a core trace prove for a basic block. A stretch is the instructions
// between two stamps. The ticks of the second stamp are the time of the stretch. They belong to a
// block only if all instructions of the stretch do.
#pragma once

#include <cstdint>
#include <optional>

#include "core/core_trace/stamp.h"

namespace htmtrace {

// Nothing if the stamp does not report the time since the preceding stamp.
inline std::optional<uint64_t> ticks_of(const Stamp& stamp) {
  const bool has_ticks = stamp.kind == StampKind::kTime || stamp.kind == StampKind::kComplete ||
                         stamp.kind == StampKind::kPause;
  const StampLosses& losses = stamp.losses;
  if (!has_ticks || losses.any() || losses.elapsed_overflow || losses.unknown) return std::nullopt;
  return stamp.elapsed;
}

struct BlockTime {
  uint64_t ticks = 0;
  uint64_t instructions = 0;  // that took the ticks

  BlockTime& operator+=(const BlockTime& other) {
    ticks += other.ticks;
    instructions += other.instructions;
    return *this;
  }
};

struct Stretch {
  uint64_t instructions = 0;
  bool is_mixed = false;          // instructions of several blocks, or a gap
  std::optional<uint64_t> block;  // begin of the only block so far
  bool has_lead = false;          // also instructions of the first execution of a part

  void enter(uint64_t begin) {
    is_mixed = is_mixed || (block && *block != begin);
    block = begin;
  }
  // Adds a stretch that continues this one. `lead` is the begin of its part's first execution.
  void join(const Stretch& later, std::optional<uint64_t> lead) {
    instructions += later.instructions;
    is_mixed = is_mixed || later.is_mixed || (later.has_lead && !lead);
    if (later.has_lead && lead) enter(*lead);
    if (later.block) enter(*later.block);
  }
};

}  // namespace htmtrace
