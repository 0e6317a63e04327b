// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace report, of nest traces.
#pragma once

#include <string>
#include <vector>

#include "cli/nest_decode.h"
#include "cli/trace_choice.h"
#include "cli/trace_context.h"
#include "core/nest_hot_spots.h"
#include "core/selection.h"
#include "output/decode_report.h"

namespace htmtrace {

enum class ReportFormat : uint8_t { kText, kJson, kCsv };

struct NestReportJob {
  const std::vector<ChosenTrace>& traces;
  const ContextOptions& context;
  const NestOptions& options;
  const Selection& selection;
  nest::HotSpots::Wishes wishes;
  ReportFormat format = ReportFormat::kText;
  size_t top = 20;
};

struct NestReportResult {
  std::string report;
  DecodeTotals totals;
  bool incomplete = false;
};

// Throws Error, also when the traces have not the same known layout.
NestReportResult report_nest(const NestReportJob& job);

}  // namespace htmtrace
