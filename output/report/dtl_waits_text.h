// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the three waits of a dispatch trace log as distributions, for each virtual processor and
// for all together. People get a part of the summary, programs a table. htmtrace-dtl(1).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/dispatch_log/analysis.h"
#include "core/dispatch_log/entry.h"
#include "output/print/dtl_format.h"

namespace htmtrace {

struct DtlWaitTables {
  DtlClock clock;
  std::vector<std::pair<int, const DtlAnalysis*>> cpus;

  // Counts the waits of all virtual processors together, with one line for each doubling of the
  // time.
  std::string histograms() const;
  // Returns a table for each wait, with a line for each virtual processor.
  std::string by_cpu() const;
  // Returns CSV or JSON Lines: a line for each virtual processor and wait, and lines for the
  // totals.
  std::string for_programs(DtlFormat format) const;
};

}  // namespace htmtrace
