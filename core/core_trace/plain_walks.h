// SPDX-License-Identifier: GPL-2.0-or-later
// The fast path for walks through page tables in a run of unambiguous records.
#pragma once

#include <cstddef>

#include "core/core_trace/framing.h"
#include "core/core_trace/power10_stream.h"
#include "core/core_trace/statistics.h"

namespace htmtrace {

// Consumes the whole XLATE records at the start of `run`, which must be in sync. Also consumes the
// following IEARA, or begins the following INFO without consuming it. Returns the number of
// consumed words, or 0 for an ambiguous record. Unless all these records were in the run, the
// stream may not be in_line() afterwards.
size_t take_plain_walks(const WordRun& run, Power10Stream& stream, CoreStatistics& statistics);

}  // namespace htmtrace
