// SPDX-License-Identifier: GPL-2.0-or-later
// Walks through page tables in a row of records of which nothing must be looked at twice.
#pragma once

#include <cstddef>

#include "core/core_statistics.h"
#include "core/framing.h"
#include "core/power10_stream.h"

namespace htmtrace {

// Takes the whole XLATE records that `run`, which is in step, begins with, and after them the IEARA
// that they are for; or begins the INFO, which is left. Returns how many words it took; 0: what is
// there must be looked at twice. The stream may not be in_line() then, nor when not all of that was
// there.
size_t take_plain_walks(const WordRun& run, Power10Stream& stream, CoreStatistics& statistics);

}  // namespace htmtrace
