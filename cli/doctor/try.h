// SPDX-License-Identifier: GPL-2.0-or-later
// `htmtrace doctor` opens each named target as a recording would, to learn whether it can be
// traced.
#pragma once

#include <string>
#include <vector>

#include "cli/doctor/finding.h"
#include "core/base/target.h"

namespace htmtrace {

// Opens the event of each target, which configures its trace macro, and closes it at once, which
// releases the macro. Then opens all of them together, as a recording does. The event is never
// enabled, so nothing is traced. If a macro is in use, the open fails and leaves the macro alone.
// Call this with htmtrace's own driver only: other drivers do not configure the macro at open.
std::vector<Finding> try_targets(const std::vector<TraceTarget>& targets);

// The finding in place of those of try_targets(): the reason why no target is tried.
Finding untried_target(const std::string& why);

// True for the findings of try_targets() and untried_target().
bool is_target_finding(const Finding& finding);

}  // namespace htmtrace
