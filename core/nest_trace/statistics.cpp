// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_trace/statistics.h"

#include "core/base/add_counts.h"

namespace htmtrace::nest {

void Statistics::add(const Stamp& stamp) {
  stamps.at(static_cast<size_t>(stamp.kind))++;
  const StampLosses& losses = stamp.losses;
  records_dropped += losses.records;
  if (losses.records_overflow) record_counter_overflows++;
  if (losses.marker) markers_dropped++;
  if (losses.response) responses_dropped++;
  if (losses.trigger) triggers_dropped++;
  if (losses.trace_full) trace_full++;
  if (losses.elapsed_overflow) elapsed_overflows++;
  if (losses.any()) loss_stamps++;
}

void Statistics::add(const Statistics& other) {
  add_counts(*this, other);
}

}  // namespace htmtrace::nest
