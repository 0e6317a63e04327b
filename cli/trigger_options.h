// SPDX-License-Identifier: GPL-2.0-or-later
// The options for what pauses and resumes a trace, and what of them makes no sense together.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/recording.h"

namespace htmtrace {

void declare_triggers(CLI::App& app, RecordOptions& options);

// Throws CLI::ValidationError. To be called when the whole command line is known.
void check_triggers(const RecordOptions& options);

}  // namespace htmtrace
