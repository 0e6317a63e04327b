// SPDX-License-Identifier: GPL-2.0-or-later
// The options for when a trace begins and ends, and how many there are.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>

#include "cli/recording.h"

namespace htmtrace {

// Throws CLI::ValidationError.
std::chrono::nanoseconds time_of_option(const char* option, const std::string& text);

void declare_schedule(CLI::App& app, RecordOptions& options);

// Throws CLI::ValidationError. To be called when the whole command line is known.
void check_schedule(const RecordOptions& options);

}  // namespace htmtrace
