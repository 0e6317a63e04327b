// SPDX-License-Identifier: GPL-2.0-or-later
// The options that select targets, for all commands that have them.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/capture/target_list.h"

namespace htmtrace {

// Declares --node, --chip and --core. `words` outlives `app`.
void declare_indices(CLI::App& app, TargetWords& words);

// Declares --node, --chip, --core, --type and --target. `words` outlives `app`.
void declare_targets(CLI::App& app, TargetWords& words);

// Returns false if the command line names no target.
bool has_targets(const TargetWords& words);

}  // namespace htmtrace
