// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace report for nest traces.
#pragma once

#include <string>
#include <vector>

#include "cli/report/options.h"
#include "cli/traces/choice.h"
#include "output/page/html_page.h"
#include "output/report/decode_report.h"

namespace htmtrace {

struct NestReportResult {
  std::string report;
  DecodeTotals totals;
  bool incomplete = false;
};

// Throws Error, also if a layout is unknown or the layouts differ.
NestReportResult report_nest(const std::vector<ChosenTrace>& traces, const ReportOptions& options,
                             const PageNames& names);
NestReportResult heat_of_nest(const std::vector<ChosenTrace>& traces, const ReportOptions& options,
                              const PageNames& names);

NestReportResult page_of_nest(const std::vector<ChosenTrace>& traces, const ReportOptions& options,
                              const PageNames& names, PageHead head);

}  // namespace htmtrace
