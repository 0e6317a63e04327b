// SPDX-License-Identifier: GPL-2.0-or-later
// The fast path of a decoder whose sink takes no instructions: rows of plain records are counted as
// CoreDecoder counts each alone, and nothing is made of them that nobody reads.
#pragma once

#include <cstdint>

#include "core/core_events.h"
#include "core/framing.h"
#include "core/plain_records.h"

namespace htmtrace {

// A sink for CoreDecoder that wants to know only what is counted. Any sink with such a constant
// gets no instruction() for some of the instructions.
struct CountingSink {
  static constexpr bool kCountsOnly = true;
  void instruction(const Instruction&) {}
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}
};

template <class Sink>
inline constexpr bool kCountsOnly = requires {
  requires Sink::kCountsOnly;
};

// Counts as many whole INFO and IEARA records as `run` begins with, which is in step, and of which
// nothing must be looked at twice; at most `most` instructions, and none that may reach beyond the
// run.
PlainRecords count_plain_records(const WordRun& run, uint64_t most, PlainState state);

}  // namespace htmtrace
