// SPDX-License-Identifier: GPL-2.0-or-later
// Selects the fast path for a sink: counts only, runs of instructions in a page, or single
// instructions.
#pragma once

#include "core/core_trace/plain_counts.h"
#include "core/core_trace/plain_pages.h"
#include "core/core_trace/plain_records.h"
#include "core/core_trace/sink.h"

namespace htmtrace {

// Consumes the plain records at the start of `run`, which yield no event except the instruction.
template <class Sink>
PlainRecords take_plain_records(const WordRun& run, PlainStart start, PlainState state,
                                Sink& sink) {
  if constexpr (CountsOnly<Sink>) {
    if (!start.passes_walks) return count_plain_records(run, start.most, state);
  } else {
    if constexpr (HasRows<Sink>) {
      if (sink.in_rows()) {
        return start.passes_walks
                   ? decode_plain_pages<typename Sink::Rows, true>(run, start.most, state, sink)
                   : decode_plain_pages<typename Sink::Rows, false>(run, start.most, state, sink);
      }
    }
    if constexpr (HasNamedRows<Sink>) {
      if (sink.in_named_rows()) {
        return start.passes_walks ? decode_plain_pages<typename Sink::NamedRows, true>(
                                        run, start.most, state, sink)
                                  : decode_plain_pages<typename Sink::NamedRows, false>(
                                        run, start.most, state, sink);
      }
    }
  }
  return decode_plain_records(run, start, state, sink);
}

}  // namespace htmtrace
