// SPDX-License-Identifier: GPL-2.0-or-later
// `htmtrace report` of a dispatch trace log.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/report/options.h"

namespace htmtrace {

// Returns the exit status. Throws Error, also when `command` was given options that such a log has
// no use for.
int report_dispatch_log(const CLI::App& command, const ReportOptions& options);

}  // namespace htmtrace
