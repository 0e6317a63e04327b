// SPDX-License-Identifier: GPL-2.0-or-later
// Which of the fast paths a sink gets: by counts alone, by rows of instructions in a page, or
// instruction by instruction.
#pragma once

#include "core/plain_counts.h"
#include "core/plain_pages.h"
#include "core/plain_records.h"

namespace htmtrace {

// The records that `run` begins with and of which nothing is to be told but the instruction.
template <class Sink>
PlainRecords take_plain_records(const WordRun& run, PlainStart start, PlainState state,
                                Sink& sink) {
  if constexpr (kCountsOnly<Sink>) {
    return count_plain_records(run, start.most, state);
  } else {
    if constexpr (kTakesRows<Sink>) {
      // Each has two words at least.
      if (run.count / 2 < start.most && sink.in_rows()) return decode_plain_pages(run, state, sink);
    }
    return decode_plain_records(run, start, state, sink);
  }
}

}  // namespace htmtrace
