// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the analysis of a dispatch trace log for people. htmtrace-dtl(1).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "core/dispatch_log/analysis.h"
#include "core/dispatch_log/entry.h"

namespace htmtrace {

struct DtlSummary {
  DtlClock clock;
  std::vector<std::pair<int, const DtlAnalysis*>> cpus;
  const DtlPlaces* places = nullptr;
  bool distances = false;                // `places` contains the chips and nodes
  const SymbolTable* symbols = nullptr;  // null: no symbols
  size_t top = 10;                       // lines of tables without a fixed length

  std::string to_text() const;
};

}  // namespace htmtrace
