// SPDX-License-Identifier: GPL-2.0-or-later
// The ticks that the stamps of a core trace prove for a basic block. An interval consists of the
// instructions between two stamps. The second stamp reports the ticks of the interval. They belong
// to a block only if all instructions of the interval belong to it. Ticks without an instruction
// belong to no block.
#pragma once

#include <cstdint>
#include <optional>

#include "core/core_trace/stamp.h"

namespace htmtrace {

// Returns the ticks since the preceding stamp. Returns nothing if the stamp does not report them,
// or if it reports a loss.
inline std::optional<uint64_t> ticks_of(const Stamp& stamp) {
  const bool has_ticks = stamp.kind == StampKind::kTime || stamp.kind == StampKind::kComplete ||
                         stamp.kind == StampKind::kPause;
  const StampLosses& losses = stamp.losses;
  if (!has_ticks || losses.any() || losses.elapsed_overflow || losses.unknown) return std::nullopt;
  return stamp.elapsed;
}

struct BlockTime {
  uint64_t ticks = 0;
  uint64_t instructions = 0;  // number of instructions that took these ticks

  BlockTime& operator+=(const BlockTime& other) {
    ticks += other.ticks;
    instructions += other.instructions;
    return *this;
  }
};

struct StampInterval {
  uint64_t instructions = 0;
  bool is_mixed = false;          // the interval has instructions of several blocks, or a gap
  std::optional<uint64_t> block;  // address of the only block so far
  // The interval has instructions of the first execution of a part. Their block is not in `block`,
  // because it may begin in the preceding part.
  bool has_lead = false;

  void enter(uint64_t begin) {
    is_mixed = is_mixed || (block && *block != begin);
    block = begin;
  }
  // Adds an interval that continues this interval. `lead` is the address of the block to which the
  // first execution of its part belongs.
  void join(const StampInterval& later, std::optional<uint64_t> lead) {
    instructions += later.instructions;
    is_mixed = is_mixed || later.is_mixed || (later.has_lead && !lead);
    if (later.has_lead && lead) enter(*lead);
    if (later.block) enter(*later.block);
  }
};

}  // namespace htmtrace
