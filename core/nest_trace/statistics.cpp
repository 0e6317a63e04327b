// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_trace/statistics.h"

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
  static constexpr uint64_t Statistics::*kSums[] = {
      &Statistics::bytes,
      &Statistics::commands,
      &Statistics::response_records,
      &Statistics::stamp_records,
      &Statistics::filler_records,
      &Statistics::unknown_records,
      &Statistics::loose_bytes,
      &Statistics::unnamed_commands,
      &Statistics::responses,
      &Statistics::matched_responses,
      &Statistics::ambiguous_responses,
      &Statistics::unnamed_responses,
      &Statistics::translated,
      &Statistics::untranslated,
      &Statistics::timers,
      &Statistics::timer_disagreements,
      &Statistics::records_dropped,
      &Statistics::record_counter_overflows,
      &Statistics::markers_dropped,
      &Statistics::responses_dropped,
      &Statistics::triggers_dropped,
      &Statistics::trace_full,
      &Statistics::elapsed_overflows,
      &Statistics::loss_stamps,
  };
  for (const auto sum : kSums) this->*sum += other.*sum;
  for (unsigned i = 0; i < kStampKinds; i++) stamps.at(i) += other.stamps.at(i);
}

}  // namespace htmtrace::nest
