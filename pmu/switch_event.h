// SPDX-License-Identifier: GPL-2.0-or-later
// The context switches of a CPU as records of a software event that counts nothing. They are made
// where the tracepoint sched_switch is, and need neither that nor tracefs.
#pragma once

#include <cstddef>

#include "core/error.h"
#include "pmu/event_attr.h"

namespace htmtrace {

// PERF_RECORD_SWITCH_CPU_WIDE, COMM, FORK and EXIT, on perf's own clock; who waits for the event
// wakes when half of the ring is full.
EventAttr switch_event_attr(size_t ring_bytes);

Error explain_switch_open_failure(int error_number, int cpu);

}  // namespace htmtrace
