// SPDX-License-Identifier: GPL-2.0-or-later
// The options that name targets, the same for every command that has them.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/target_list.h"

namespace htmtrace {

// Declares --node, --chip, --core, --type and --target. `words` outlives `app`.
void declare_targets(CLI::App& app, TargetWords& words);

// False when the command line names no target at all.
bool has_targets(const TargetWords& words);

}  // namespace htmtrace
