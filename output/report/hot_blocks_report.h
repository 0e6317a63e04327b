// SPDX-License-Identifier: GPL-2.0-or-later
// Prints HotBlocks for people and for programs. htmtrace-report(1), HOT BLOCKS.
#pragma once

#include <cstddef>
#include <string>

#include "core/analysis/hot_blocks.h"
#include "core/analysis/symbol_table.h"
#include "output/report/decode_report.h"
#include "output/source_lines/source_files.h"
#include "output/symbols/cycle_model.h"

namespace htmtrace {

struct HotBlocksReport {
  const HotBlocks& blocks;
  const SymbolTable& symbols;
  SourceFiles* lines = nullptr;  // null: no source lines
  DecodeTotals totals;           // all decoded events, selected or not
  size_t traces = 0;
  size_t top = 20;              // blocks
  CycleModel* model = nullptr;  // null: predict no cycles

  // These functions throw Error if a prediction fails.
  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

}  // namespace htmtrace
