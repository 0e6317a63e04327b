// SPDX-License-Identifier: GPL-2.0-or-later
// The targets of `htmtrace record` without a target, or with --cpu-target.
#pragma once

#include "cli/record/options.h"
#include "cli/signals.h"

namespace htmtrace {

// Locates the cores of options.located_cpus. If the list is empty, chooses a CPU first.
// Completes the targets, the carrier CPUs and located_cpus, reports the choice, and moves htmtrace
// itself to other CPUs. Throws Error.
void locate_targets(RecordOptions& options, Signals& signals);

}  // namespace htmtrace
