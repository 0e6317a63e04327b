// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace report --heat-map.
#pragma once

#include <string>

#include "cli/report/options.h"
#include "output/report/heat_map_report.h"

namespace htmtrace {

// Adds the basis of the map to its remarks.
void add_basis(HeatMapReport& report);

// Returns the map in the requested format. Text is as wide as the terminal. Sets the members of
// `report` that depend on the options, and adds the basis of the map to its remarks.
std::string print_heat(HeatMapReport& report, const ReportOptions& options);

}  // namespace htmtrace
