// SPDX-License-Identifier: GPL-2.0-or-later
// Dispatch trace log entries for people and for programs, one line each, with perf's field names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/dtl_entry.h"
#include "output/dtl_format.h"
#include "output/dtl_tasks_text.h"
#include "output/text_output.h"

namespace htmtrace {

// What comes before the first entry: CSV's line of names.
void print_dtl_head(TextOutput& output, DtlFormat format, bool tasks = false);

// "[003]     1.000000195: vpa-dtl: timebase:513000000, dispatch_reason:decrementer_interrupt, ..."
// The time is that of perf, in nanoseconds for
// programs; a dash, nothing, or null when the clock is not known. A reason without a name is a
// number. `tasks` is null when they are not asked for.
void print_dtl_entries(TextOutput& output, DtlFormat format, int cpu, const DtlClock& clock,
                       std::span<const DtlEntry> entries, const DtlTaskColumn* tasks = nullptr);

}  // namespace htmtrace
