// SPDX-License-Identifier: GPL-2.0-or-later
// The targets of `htmtrace record` without a target, or with --cpu-target.
#pragma once

#include <vector>

#include "cli/locate/finder.h"
#include "cli/record/options.h"
#include "cli/signals.h"

namespace htmtrace {

// Locates the cores of options.located_cpus. If the list is empty, chooses a CPU first.
// Completes the targets, the carrier CPUs and located_cpus, reports the choice, and moves htmtrace
// itself to other CPUs. Throws Error.
void locate_targets(RecordOptions& options, Signals& signals);

// Warns of each CPU that may have left its core since it was located: the trace may lack what ran
// on the CPU. Returns true if there is such a CPU.
bool warn_of_moves(const std::vector<CpuLocation>& locations);

}  // namespace htmtrace
