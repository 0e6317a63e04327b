// SPDX-License-Identifier: GPL-2.0-or-later
// XLATE records to walks: which record belongs to which access, and what it left out.
#pragma once

#include <cstdint>
#include <vector>

#include "core/core_events.h"
#include "core/framing.h"
#include "core/radix_walk.h"
#include "core/walk_memory.h"

namespace htmtrace {

class WalkTracker {
 public:
  void take_xlate(const WordRun& run, const Framing& framing, uint64_t offset);

  // An IEARA: walks of the data side so far belong to an instruction that did not complete.
  void take_line(EffectiveAddr line, RealAddr page);

  bool pending() const { return !instruction_side_.empty() || !data_side_.empty(); }

  // The instruction that ends the group. After it, done() has what the group's records told, in
  // their order.
  void take_instruction(const Instruction& instruction);

  // Records are missing, or the trace has ended: what is pending has no instruction.
  void abandon();

  // Finished walks; the caller clears it.
  std::vector<Walk>& done() { return done_; }

 private:
  static constexpr size_t kMostPending = 16;

  void pass_on_interrupted(std::vector<Walk>& walks);
  void finish(Walk& walk, Modes modes);

  WalkMemory memory_;
  std::vector<Walk> instruction_side_;
  std::vector<Walk> data_side_;
  std::vector<Walk> done_;
};

// The words of an XLATE record as they are, nothing completed.
Walk parse_walk(const WordRun& run, const Framing& framing);

}  // namespace htmtrace
