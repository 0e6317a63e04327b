// SPDX-License-Identifier: GPL-2.0-or-later
// Where a program and its descendants run, and which files they execute.
#pragma once

#include <cstddef>

#include "pmu/event_attr.h"

namespace htmtrace {

// A software event for one task on one CPU, which its descendants inherit. It counts the
// nanoseconds that they run there, and its ring gets a PERF_RECORD_MMAP2 for each executable
// mapping that they make there.
EventAttr workload_event_attr();

}  // namespace htmtrace
