// SPDX-License-Identifier: GPL-2.0-or-later
// What virtual processors did in each interval of time: a table for people, a line for each
// interval and virtual processor for programs. htmtrace-dtl(1).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/dtl_entry.h"
#include "core/dtl_series.h"
#include "output/dtl_text.h"
#include "output/text_output.h"

namespace htmtrace {

struct DtlSeriesText {
  DtlClock clock;
  DtlIntervals intervals;
  bool distances = false;                              // it is known where chips and nodes are
  std::vector<std::pair<int, const DtlSeries*>> cpus;  // by ascending CPU

  // Throws Error when it cannot be written.
  void print(TextOutput& output, DtlFormat format) const;
};

}  // namespace htmtrace
