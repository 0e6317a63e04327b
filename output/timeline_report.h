// SPDX-License-Identifier: GPL-2.0-or-later
// Timelines for people and for programs. htmtrace-report(1), TIMELINE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/timeline.h"
#include "output/decode_report.h"

namespace htmtrace {

struct TimelineReport {
  struct Trace {
    std::string name;
    Timeline timeline;
  };
  const std::vector<Trace>& traces;
  DecodeTotals totals;  // of everything that was decoded, selected or not

  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

// Ticks of an instruction, in thousandths; nothing of no instruction.
std::optional<uint64_t> ticks_each(const Timeline& timeline, size_t window);

}  // namespace htmtrace
