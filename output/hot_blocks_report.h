// SPDX-License-Identifier: GPL-2.0-or-later
// HotBlocks for people and for programs. htmtrace-report(1), HOT BLOCKS.
#pragma once

#include <cstddef>
#include <string>

#include "core/hot_blocks.h"
#include "core/symbol_table.h"
#include "output/decode_report.h"

namespace htmtrace {

struct HotBlocksReport {
  const HotBlocks& blocks;
  const SymbolTable& symbols;
  DecodeTotals totals;  // of everything that was decoded, selected or not
  size_t traces = 0;
  size_t top = 20;  // blocks

  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

}  // namespace htmtrace
