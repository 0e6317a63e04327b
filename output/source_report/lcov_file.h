// SPDX-License-Identifier: GPL-2.0-or-later
// Writes coverage as an lcov tracefile: geninfo(1) of lcov 1.16, "Files".
#pragma once

#include <cstdint>

#include "output/io/text_output.h"
#include "output/source_report/coverage.h"

namespace htmtrace {

struct LcovTotals {
  uint64_t lines = 0;
  uint64_t executed_lines = 0;
  uint64_t functions = 0;
  uint64_t executed_functions = 0;
  uint64_t directions = 0;  // two of each conditional branch
  uint64_t executed_directions = 0;
};

// Returns the numbers of all sources. Throws Error if the output cannot be written.
LcovTotals write_lcov(const SourceCoverage& coverage, TextOutput& output);

}  // namespace htmtrace
