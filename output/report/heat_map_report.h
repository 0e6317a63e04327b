// SPDX-License-Identifier: GPL-2.0-or-later
// Prints a HeatMap for people and for programs. htmtrace-report(1), HEAT MAP.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/analysis/heat_maps.h"
#include "output/report/decode_report.h"

namespace htmtrace {

struct HeatMapReport {
  const HeatMaps& maps;
  DecodeTotals totals;  // all decoded events, selected or not
  size_t traces = 0;
  std::string what;     // the counted events: "data accesses"
  std::string step;     // the event that numbers the columns: "instruction", "command"
  std::string kind;     // kind of the addresses: "logical"
  std::string remarks;  // lines about the basis of the map, with line ends
  size_t top = 32;      // number of rows that are shown separately
  static constexpr size_t kWidth = 80;
  size_t width = kWidth;  // of a line of text, without the name at its end
  // Names a row. Empty if the row has no name.
  std::function<std::string(const HeatMap::Row&)> name = [](const HeatMap::Row&) {
    return std::string();
  };

  std::string to_text() const;
  std::string to_svg() const;
  std::string to_json() const;
  std::string to_csv() const;

  // The unit of the columns: "tick", or `step`.
  std::string axis() const;
};

// The rows that are shown, and the sum of all other rows.
struct ShownRows {
  std::vector<HeatMap::Row> rows;
  uint64_t others = 0;         // number of rows
  uint64_t others_count = 0;   // count in these rows
  std::vector<uint64_t> rest;  // their sum in each window
  uint64_t most = 0;           // the highest count of a shown row in one window
};
ShownRows shown_rows(const HeatMap& map, size_t top);

// 0 for a count of 0, otherwise 1 to kHeatLevels on a logarithmic scale. `most` gives the highest
// level.
inline constexpr unsigned kHeatLevels = 9;
unsigned heat_level(uint64_t count, uint64_t most);

}  // namespace htmtrace
