// SPDX-License-Identifier: GPL-2.0-or-later
// Prints HotSpots for people and for programs. htmtrace-report(1).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/hot_spots.h"
#include "output/report/decode_report.h"

namespace htmtrace {

struct HotSpotsReport {
  const HotSpots& spots;
  DecodeTotals totals;  // all decoded events, selected or not
  size_t traces = 0;
  size_t top = 20;  // lines of each table

  // Lines about the traces, and about events that are in no table.
  std::string basis() const;

  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

// The names and the work of the processes that have instructions. The process with the most
// instructions is first.
std::vector<std::pair<std::string, ProcessWork>> process_rows(const HotSpots& spots);

// The parts of a line of hot data. `most` limits the values of each list.
// The code that accessed the data: "first(3) second(1)".
std::string sites_text(const SymbolTable& symbols, const HotData& data, size_t most);
// The lowest effective address, or `nothing` if no program or kernel mapped the data.
std::string effective_text(const HotData& hot, const char* prefix, const char* nothing);
// One object with the distance from its start, or a list.
std::string objects_text(const SymbolTable& symbols, const HotData& data, size_t most);

}  // namespace htmtrace
