// SPDX-License-Identifier: GPL-2.0-or-later
// The options that pause and resume a trace, and the check of their combinations.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/record/options.h"

namespace htmtrace {

void declare_triggers(CLI::App& app, RecordOptions& options);

// Throws CLI::ValidationError. Call it after the whole command line is parsed.
void check_triggers(const RecordOptions& options);

}  // namespace htmtrace
