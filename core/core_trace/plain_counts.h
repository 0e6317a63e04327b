// SPDX-License-Identifier: GPL-2.0-or-later
// The fast path of a decoder whose sink accepts no instructions. The path counts runs of plain
// records with the same result as CoreDecoder, but builds no Instruction.
#pragma once

#include <cstdint>

#include "core/core_trace/events.h"
#include "core/core_trace/framing.h"
#include "core/core_trace/plain_records.h"

namespace htmtrace {

// A sink for CoreDecoder that needs only the statistics.
struct CountingSink {
  static constexpr bool kCountsOnly = true;
  void instruction(const Instruction&) {}
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}
};

// Counts the whole, unambiguous INFO and IEARA records at the start of `run`, which must be in
// sync. Counts at most `most` instructions and stops before a record that may extend past the run.
PlainRecords count_plain_records(const WordRun& run, uint64_t most, PlainState state);

}  // namespace htmtrace
