// SPDX-License-Identifier: GPL-2.0-or-later
// nest::HotSpots for people and for programs. htmtrace-report(1).
#pragma once

#include <cstddef>
#include <string>

#include "core/nest_hot_spots.h"
#include "output/decode_report.h"

namespace htmtrace {

struct NestHotReport {
  const nest::HotSpots& spots;
  DecodeTotals totals;
  std::string evidence;  // of the layout
  size_t top = 20;

  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

}  // namespace htmtrace
