// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace report --heat-map.
#pragma once

#include <string>

#include "cli/report/options.h"
#include "output/report/heat_map_report.h"

namespace htmtrace {

// In the format that is asked for; of text, as wide as the terminal. Fills in what the options say
// and how much of the trace it rests on.
std::string print_heat(HeatMapReport& report, const ReportOptions& options);

}  // namespace htmtrace
