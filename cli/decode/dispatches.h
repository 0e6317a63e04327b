// SPDX-License-Identifier: GPL-2.0-or-later
// `htmtrace decode` of a dispatch trace log.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/decode/options.h"

namespace htmtrace {

// Returns the exit status. Throws Error, also when `command` was given options that such a log has
// no use for.
int decode_dispatch_log(const CLI::App& command, const DecodeOptions& options);

}  // namespace htmtrace
