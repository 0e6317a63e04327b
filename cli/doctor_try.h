// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the named targets can be traced: `htmtrace doctor` opens each as a recording would.
#pragma once

#include <string>
#include <vector>

#include "cli/finding.h"
#include "core/trace_target.h"

namespace htmtrace {

// Opens the event of each target, which configures its trace macro, and closes it at once, which
// releases the macro. The event is never enabled, so nothing is traced. A macro in use refuses the
// open and is not touched. Only htmtrace's own driver works so: call it with no other.
std::vector<Finding> try_targets(const std::vector<TraceTarget>& targets);

// In place of try_targets(): the reason why no target is tried.
Finding untried_target(const std::string& why);

// The finding is one of those above.
bool is_target_finding(const Finding& finding);

}  // namespace htmtrace
