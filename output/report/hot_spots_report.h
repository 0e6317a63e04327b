// SPDX-License-Identifier: GPL-2.0-or-later
// Prints HotSpots for people and for programs. htmtrace-report(1).
#pragma once

#include <cstddef>
#include <string>

#include "core/analysis/hot_spots.h"
#include "output/report/decode_report.h"

namespace htmtrace {

struct HotSpotsReport {
  const HotSpots& spots;
  DecodeTotals totals;  // all decoded events, selected or not
  size_t traces = 0;
  size_t top = 20;  // lines of each table

  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

}  // namespace htmtrace
