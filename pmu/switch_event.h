// SPDX-License-Identifier: GPL-2.0-or-later
// Records the context switches of a CPU with a software event that counts nothing. The kernel
// writes the records next to the tracepoint sched_switch, but requires neither the tracepoint nor
// tracefs.
#pragma once

#include <cstddef>

#include "core/base/error.h"
#include "pmu/event_attr.h"

namespace htmtrace {

// Records PERF_RECORD_SWITCH_CPU_WIDE, COMM, FORK and EXIT on perf's own clock. The event wakes a
// waiting reader when the ring is half full.
EventAttr switch_event_attr(size_t ring_bytes);

Error explain_switch_open_failure(int error_number, int cpu);

}  // namespace htmtrace
