// SPDX-License-Identifier: GPL-2.0-or-later
// `htmtrace report` of a dispatch trace log.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/report/options.h"

namespace htmtrace {

// Returns the exit status. Throws Error, also if `command` has options that do not apply to such a
// log.
int report_dispatch_log(const CLI::App& command, const ReportOptions& options);

}  // namespace htmtrace
