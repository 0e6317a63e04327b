// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace report --infer-address: nest traces of unknown layout.
#pragma once

#include <vector>

#include "cli/report/nest_report.h"

namespace htmtrace {

// Reports the hot pages by an address field that is inferred from the memory map, with the
// evidence. Without an accepted field, reports only the evidence. Throws Error, also if a trace
// cannot be read twice.
NestReportResult report_inferred(const std::vector<ChosenTrace>& traces,
                                 const ReportOptions& options, const PageNames& names);

}  // namespace htmtrace
