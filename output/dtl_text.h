// SPDX-License-Identifier: GPL-2.0-or-later
// Dispatch trace log entries as text, one line each, with perf's field names.
#pragma once

#include <cstddef>
#include <span>

#include "core/dtl_entry.h"
#include "output/text_output.h"

namespace htmtrace {

// "[003]     1.000000195: vpa-dtl: timebase:513000000, dispatch_reason:decrementer_interrupt, ..."
// `entries` are whole entries as the log has them. The time is that of perf; a dash when the clock
// is not known. A reason without a name is a number.
void print_dtl_entries(TextOutput& output, int cpu, const DtlClock& clock,
                       std::span<const std::byte> entries);

}  // namespace htmtrace
