// SPDX-License-Identifier: GPL-2.0-or-later
// A HeatMap for people and for programs. htmtrace-report(1), HEAT MAP.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/heat_maps.h"
#include "output/decode_report.h"

namespace htmtrace {

struct HeatMapReport {
  const HeatMaps& maps;
  DecodeTotals totals;  // of everything that was decoded, selected or not
  size_t traces = 0;
  std::string what;     // was counted: "data accesses"
  std::string kind;     // of the addresses: "logical"
  std::string remarks;  // lines about what it rests on, each ended
  size_t top = 32;      // rows that are shown for themselves
  static constexpr size_t kWidth = 80;
  size_t width = kWidth;  // of a line of text, without the name at its end
  // Of a row; empty when it has none.
  std::function<std::string(const HeatMap::Row&)> name = [](const HeatMap::Row&) {
    return std::string();
  };

  std::string to_text() const;
  std::string to_svg() const;
  std::string to_json() const;
  std::string to_csv() const;

  // What the columns count: "ticks", "instructions", "commands".
  const char* axis() const;
};

// The rows that are shown, and the sum of all others.
struct ShownRows {
  std::vector<HeatMap::Row> rows;
  uint64_t others = 0;         // rows
  uint64_t others_count = 0;   // in them
  std::vector<uint64_t> rest;  // of each window
  uint64_t most = 0;           // in one window of one row that is shown
};
ShownRows shown_rows(const HeatMap& map, size_t top);

// 0 of nothing, else 1 to kHeatLevels: logarithmic, `most` being the highest.
inline constexpr unsigned kHeatLevels = 9;
unsigned heat_level(uint64_t count, uint64_t most);

}  // namespace htmtrace
