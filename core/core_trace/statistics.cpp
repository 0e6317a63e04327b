// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/statistics.h"

#include "core/base/add_counts.h"

namespace htmtrace {

void CoreStatistics::add(const Stamp& stamp) {
  stamps.at(static_cast<size_t>(stamp.kind))++;
  if (stamp.companion_timer) companions++;
  elapsed_ticks += stamp.elapsed;
  const StampLosses& losses = stamp.losses;
  records_dropped += losses.records;
  if (losses.records_overflow) record_counter_overflows++;
  if (losses.marker) markers_dropped++;
  if (losses.response) responses_dropped++;
  if (losses.trigger) triggers_dropped++;
  if (losses.trace_full) trace_full++;
  if (losses.elapsed_overflow) elapsed_overflows++;
  if (losses.unknown) unknown_indications++;
  if (losses.any()) loss_stamps++;
}

void CoreStatistics::add(const Defect& defect) {
  DefectSummary& summary = defects.at(static_cast<size_t>(defect.reason));
  if (summary.count < DefectSummary::kKept) summary.first_offsets.at(summary.count) = defect.offset;
  summary.count++;
  summary.size_bytes += defect.size_bytes;
}

void CoreStatistics::add(const CoreStatistics& next) {
  bytes = next.bytes;
  add_counts<CoreCounts>(*this, next);
  for (size_t i = 0; i < defects.size(); i++) defects.at(i).add(next.defects.at(i));
}

void DefectSummary::add(const DefectSummary& next) {
  for (uint64_t i = 0; i < std::min<uint64_t>(next.count, kKept) && count + i < kKept; i++) {
    first_offsets.at(count + i) = next.first_offsets.at(i);
  }
  count += next.count;
  size_bytes += next.size_bytes;
}

const char* defect_reason_name(DefectReason reason) {
  switch (reason) {
    case DefectReason::kUnknownWord:
      return "unknown word";
    case DefectReason::kIllegalRecord:
      return "illegal record";
    case DefectReason::kUnconfirmed:
      return "unconfirmed record";
    case DefectReason::kUnendedWalk:
      return "walk without end";
    case DefectReason::kCutRecord:
      return "cut record";
    case DefectReason::kCutByEnd:
      return "record cut by end";
    case DefectReason::kLooseBytes:
      return "loose bytes at end";
    case DefectReason::kUnknownAddress:
      return "unknown address";
    case DefectReason::kUnknownBranch:
      return "unknown branch form";
  }
  return "unknown";
}

}  // namespace htmtrace
