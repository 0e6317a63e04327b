// SPDX-License-Identifier: GPL-2.0-or-later
// The perf event that shows on which CPUs a program and its descendants run, and which files they
// execute.
#pragma once

#include <cstddef>

#include "pmu/event_attr.h"

namespace htmtrace {

// A software event for one task on one CPU, which the task's descendants inherit. The event counts
// the nanoseconds that they run there. Its ring gets a PERF_RECORD_MMAP2 for each executable
// mapping that they create there.
EventAttr workload_event_attr();

}  // namespace htmtrace
