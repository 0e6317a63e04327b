// SPDX-License-Identifier: GPL-2.0-or-later
// Prints timelines for people and for programs. htmtrace-report(1), TIMELINE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/timeline.h"
#include "output/report/decode_report.h"

namespace htmtrace {

struct TimelineReport {
  struct Trace {
    std::string name;
    Timeline timeline;
  };
  const std::vector<Trace>& traces;
  DecodeTotals totals;  // all decoded events, selected or not

  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

// Draws one timeline as an SVG element as wide as its container.
std::string timeline_chart(const Timeline& timeline);
// The HTML text that explains its colors.
std::string timeline_legend();

// Ticks for each instruction, in thousandths. Empty without instructions.
std::optional<uint64_t> ticks_each(const Timeline& timeline, size_t window);

}  // namespace htmtrace
