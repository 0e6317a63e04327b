// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the activity of virtual processors in each time interval: a table for people, or a line
// for each interval and virtual processor for programs. htmtrace-dtl(1).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/series.h"
#include "output/io/text_output.h"
#include "output/print/dtl_text.h"

namespace htmtrace {

struct DtlSeriesText {
  DtlClock clock;
  DtlIntervals intervals;
  bool distances = false;  // the chips and nodes of processors are known
  std::vector<std::pair<int, const DtlSeries*>> cpus;  // by ascending CPU

  // Throws Error if writing fails.
  void print(TextOutput& output, DtlFormat format) const;
};

}  // namespace htmtrace
