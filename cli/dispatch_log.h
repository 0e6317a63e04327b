// SPDX-License-Identifier: GPL-2.0-or-later
// `htmtrace decode` and `htmtrace report` of a dispatch trace log. They do what `htmtrace dtl
// --input` does with the options that both have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/decode_options.h"
#include "cli/report_options.h"

namespace htmtrace {

// Whether that is all that they name. Throws Error when it cannot be read.
bool is_one_dispatch_log(const std::vector<std::string>& paths);

// Both return the exit status and throw Error, also when `command` was given options that such a
// log has no use for.
int decode_dispatch_log(const CLI::App& command, const DecodeOptions& options);
int report_dispatch_log(const CLI::App& command, const ReportOptions& options);

}  // namespace htmtrace
