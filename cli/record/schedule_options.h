// SPDX-License-Identifier: GPL-2.0-or-later
// The options that set the start, the end and the number of traces.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/record/options.h"

namespace htmtrace {

void declare_schedule(CLI::App& app, RecordOptions& options);

// Throws CLI::ValidationError. Call it after the whole command line is parsed.
void check_schedule(const RecordOptions& options);

}  // namespace htmtrace
