// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_statistics.h"

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
