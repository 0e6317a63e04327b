// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the activity of the virtual processors in the last interval, one line each.
// htmtrace-dtl(1), TOP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dispatch_log/analysis.h"
#include "core/dispatch_log/entry.h"

namespace htmtrace {

// The sort key of the lines.
enum class DtlTopOrder : uint8_t { kStolen, kLatency, kDispatches, kMoved, kCpu };

struct DtlTopLine {
  int cpu = 0;
  DtlAnalysis analysis{};   // analysis of the interval
  uint16_t home = 0;        // the most frequent processor since the start
  uint64_t away = 0;        // dispatches of the interval on other processors
  uint64_t full = 0;        // polls of the driver that found a full log
  bool incomplete = false;  // incomplete for another reason
};

struct DtlTopView {
  DtlClock clock{};
  uint64_t now_ns = 0;       // time since boot, for people
  uint64_t interval_ns = 0;  // not 0
  DtlTopOrder order = DtlTopOrder::kStolen;
  size_t most_lines = SIZE_MAX;  // limit for the lines of CPUs
  std::vector<DtlTopLine> lines{};

  // Sorts the lines.
  std::string to_text();
};

}  // namespace htmtrace
