// SPDX-License-Identifier: GPL-2.0-or-later
// Prints dispatch trace log entries for people and for programs: one line each, with perf's field
// names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/dispatch_log/entry.h"
#include "output/io/text_output.h"
#include "output/print/dtl_format.h"
#include "output/print/dtl_tasks_text.h"

namespace htmtrace {

// Prints the header that precedes the first entry: CSV's line of names.
void print_dtl_head(TextOutput& output, DtlFormat format, bool tasks = false);

// Prints "[003]     1.000000195: vpa-dtl: timebase:513000000,
// dispatch_reason:decrementer_interrupt, ..." The time is perf's time, in nanoseconds for programs.
// If the clock is unknown, the time is a dash, empty, or null. A reason without a name is a number.
// Pass null as `tasks` to omit the tasks.
void print_dtl_entries(TextOutput& output, DtlFormat format, int cpu, const DtlClock& clock,
                       std::span<const DtlEntry> entries, const DtlTaskColumn* tasks = nullptr);

}  // namespace htmtrace
