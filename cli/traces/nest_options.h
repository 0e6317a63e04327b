// SPDX-License-Identifier: GPL-2.0-or-later
// The options of nest traces.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/nest_trace/events.h"

namespace htmtrace {

struct NestOptions {
  std::optional<nest::Layout> layout;
  std::vector<std::string> commands;  // names; empty: all
};

// --layout.
void declare_layout(CLI::App& app, std::optional<nest::Layout>& layout);

// --layout and --command.
void declare_nest(CLI::App& app, NestOptions& options);

// Throws Error if an option for nest traces is used with a core trace. `trace` is the name of the
// trace.
void check_core_selection(const NestOptions& options, const std::string& trace);

}  // namespace htmtrace
