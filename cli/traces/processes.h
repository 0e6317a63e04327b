// SPDX-License-Identifier: GPL-2.0-or-later
// The processes of a trace, which the pages that record saved prove.
#pragma once

#include <cstdint>
#include <string>

#include "cli/traces/choice.h"
#include "cli/traces/options.h"
#include "core/analysis/page_owners.h"

namespace htmtrace {

// Loads the owners of the pages of the trace. Prints a note on stderr if they prove no process.
// Throws Error if --process names a process that they do not prove.
PageOwners load_owners(const ChosenTrace& trace, const TraceOptions& options);

// Warns on stderr about ProcessFollower::contradictions().
void warn_of_contradictions(uint64_t contradictions, const std::string& trace);

}  // namespace htmtrace
