// SPDX-License-Identifier: GPL-2.0-or-later
// The perf event that shows the CPUs on which a program and its descendants run, the files that
// they execute, and the processes that they create.
#pragma once

#include <cstddef>

#include "pmu/event_attr.h"

namespace htmtrace {

// A software event for one task on one CPU, which the task's descendants inherit. The event counts
// their running time on this CPU in nanoseconds. Its ring gets a PERF_RECORD_MMAP2 for each
// executable mapping that they create on this CPU, and a PERF_RECORD_FORK for each process.
EventAttr workload_event_attr();

}  // namespace htmtrace
