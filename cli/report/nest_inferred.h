// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace report --infer-address: nest traces whose layout is not known.
#pragma once

#include <vector>

#include "cli/report/nest_report.h"

namespace htmtrace {

// Hot pages by an address field that is inferred from the memory map, with the evidence; where none
// is believed, only the evidence. Throws Error, also when a trace cannot be read twice.
NestReportResult report_inferred(const std::vector<ChosenTrace>& traces,
                                 const ReportOptions& options, const PageNames& names);

}  // namespace htmtrace
