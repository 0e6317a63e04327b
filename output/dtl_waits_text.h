// SPDX-License-Identifier: GPL-2.0-or-later
// The three waits of a dispatch trace log as distributions, of each virtual processor and of all:
// for people, the part of the summary that has them, and for programs. htmtrace-dtl(1).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/dtl_analysis.h"
#include "core/dtl_entry.h"
#include "output/dtl_format.h"

namespace htmtrace {

struct DtlWaitTables {
  DtlClock clock;
  std::vector<std::pair<int, const DtlAnalysis*>> cpus;

  // How often which times were waited, of all together: a line for each doubling.
  std::string histograms() const;
  // A table for each wait, with a line for each virtual processor.
  std::string by_cpu() const;
  // CSV or JSON Lines: a line for each virtual processor and wait, and those of all.
  std::string for_programs(DtlFormat format) const;
};

}  // namespace htmtrace
