// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the counts of a nest trace's decoders for people.
#pragma once

#include <string>

#include "core/nest_trace/statistics.h"

namespace htmtrace {

// Returns several lines with line ends.
std::string describe(const nest::Statistics& statistics);

}  // namespace htmtrace
