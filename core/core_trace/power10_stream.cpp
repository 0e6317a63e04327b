// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/power10_stream.h"

namespace htmtrace {

void Power10Stream::take_xlate(const WordRun& run, const Framing& framing,
                               CoreStatistics& statistics) {
  const bool data_side = words::xlate_data_side(run[0]);
  (data_side ? data_walks_ : instruction_walks_)++;
  statistics.xlates.at(data_side ? 1 : 0)++;
  for (size_t i = 1; i < framing.words; i++) {
    const uint64_t word = run[i];
    if (words::walk_end(word)) break;
    statistics.walk_words++;
    statistics.walk_kinds.at(static_cast<size_t>(words::walk_kind(word)))++;
    if (words::walk_exception(word)) statistics.walk_exceptions++;
  }
}

void Power10Stream::end_group(uint64_t info, CoreStatistics& statistics) {
  // An IEARA always follows the walk for an instruction fetch. Here the IEARA is missing, and the
  // known line is not the target of the walk.
  if (instruction_walks_ != 0) {
    statistics.interrupted_groups++;
    forget_line();
  }
  const unsigned operands = words::info10_operands(info);
  const unsigned used = operands == words::kSegmentOperands ? 0 : operands;
  if (data_walks_ > used) statistics.interrupted_groups += data_walks_ - used;
  line_.ends_group = false;
  instruction_walks_ = 0;
  data_walks_ = 0;
}

}  // namespace htmtrace
