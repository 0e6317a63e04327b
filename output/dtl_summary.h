// SPDX-License-Identifier: GPL-2.0-or-later
// The analysis of a dispatch trace log for people. htmtrace-dtl(1).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/dtl_analysis.h"
#include "core/dtl_entry.h"
#include "core/symbol_table.h"

namespace htmtrace {

struct DtlSummary {
  DtlClock clock;
  std::vector<std::pair<int, const DtlAnalysis*>> cpus;
  const DtlPlaces* places = nullptr;
  bool distances = false;                // `places` were told where chips and nodes are
  const SymbolTable* symbols = nullptr;  // null: none
  size_t top = 10;                       // lines of the tables that could be long

  std::string to_text() const;
};

}  // namespace htmtrace
