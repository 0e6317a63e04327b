// SPDX-License-Identifier: GPL-2.0-or-later
// Assigns each XLATE record to its access. WalkCompleter adds the entries that the record omits.
#pragma once

#include <cstdint>
#include <vector>

#include "core/core_trace/events.h"
#include "core/core_trace/framing.h"
#include "core/core_trace/radix_walk.h"

namespace htmtrace {

class WalkTracker {
 public:
  void take_xlate(const WordRun& run, const Framing& framing, uint64_t offset);

  // Handles an IEARA: the pending walks of the data side belong to an instruction that did not
  // complete.
  void take_line(EffectiveAddr line, RealAddr page);

  bool pending() const { return !instruction_side_.empty() || !data_side_.empty(); }

  // Handles the instruction that ends the group, and appends the walks of the group to done():
  // first the pending walks of the instruction side, then those of the data side.
  void take_instruction(const Instruction& instruction);

  // Records are missing, or the trace has ended: pending walks have no instruction.
  void abandon();

  // The finished walks. The caller clears the list.
  std::vector<Walk>& done() { return done_; }

 private:
  static constexpr size_t kMostPending = 16;

  void pass_on_interrupted(std::vector<Walk>& walks);

  std::vector<Walk> instruction_side_;
  std::vector<Walk> data_side_;
  std::vector<Walk> done_;
};

// Parses the words of an XLATE record without completing the walk.
Walk parse_walk(const WordRun& run, const Framing& framing);

}  // namespace htmtrace
