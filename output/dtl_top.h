// SPDX-License-Identifier: GPL-2.0-or-later
// What the virtual processors did in the last interval, a line each. htmtrace-dtl(1), TOP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dtl_analysis.h"
#include "core/dtl_entry.h"

namespace htmtrace {

// What stands highest.
enum class DtlTopOrder : uint8_t { kStolen, kLatency, kDispatches, kMoved, kCpu };

struct DtlTopLine {
  int cpu = 0;
  DtlAnalysis analysis{};   // of the interval
  uint16_t home = 0;        // where it was dispatched most since the beginning
  uint64_t away = 0;        // dispatches of the interval elsewhere
  uint64_t full = 0;        // looks of the driver that found a full log
  bool incomplete = false;  // for another reason
};

struct DtlTopView {
  DtlClock clock{};
  uint64_t now_ns = 0;       // since boot, for people
  uint64_t interval_ns = 0;  // not 0
  DtlTopOrder order = DtlTopOrder::kStolen;
  size_t most_lines = SIZE_MAX;  // of CPUs
  std::vector<DtlTopLine> lines{};

  // Puts the lines in order.
  std::string to_text();
};

}  // namespace htmtrace
