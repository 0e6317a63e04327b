// SPDX-License-Identifier: GPL-2.0-or-later
// Selects the fast path for a sink: counts only, runs of instructions in a page, or single
// instructions.
#pragma once

#include "core/core_trace/plain_counts.h"
#include "core/core_trace/plain_pages.h"
#include "core/core_trace/plain_records.h"
#include "core/core_trace/sink.h"

namespace htmtrace {

template <class Rows, class Sink>
PlainRecords take_plain_pages(const WordRun& run, PlainStart start, PlainState state, Sink& sink) {
  return start.stops_at_walks ? decode_plain_pages<Rows, true>(run, start.most, state, sink)
                              : decode_plain_pages<Rows, false>(run, start.most, state, sink);
}

// Consumes the plain records at the start of `run`, which yield no event except the instruction.
template <class Sink>
PlainRecords take_plain_records(const WordRun& run, PlainStart start, PlainState state,
                                Sink& sink) {
  if constexpr (CountsOnly<Sink>) {
    if (!start.stops_at_walks) return count_plain_records(run, start.most, state);
  } else {
    if constexpr (HasRows<Sink>) {
      if (sink.in_rows()) {
        return take_plain_pages<typename Sink::Rows>(run, start, state, sink);
      }
    }
    if constexpr (HasNamedRows<Sink>) {
      if (sink.in_named_rows()) {
        return take_plain_pages<typename Sink::NamedRows>(run, start, state, sink);
      }
    }
  }
  return decode_plain_records(run, start, state, sink);
}

}  // namespace htmtrace
