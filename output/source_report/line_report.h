// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the hot source lines of core traces. htmtrace-report(1), SOURCE LINES.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/address_counts.h"
#include "core/analysis/symbol_table.h"
#include "output/report/decode_report.h"
#include "output/source_lines/source_files.h"

namespace htmtrace {

// A line of a function. A function that the compiler inlined at several positions has one row for
// each of its lines. The texts live as long as the symbols and the source lines.
struct HotLine {
  std::string_view file;  // empty: the instructions of `function` have no known line
  uint32_t line = 0;
  std::string_view function;       // the function whose source has the line; empty: unknown
  std::string_view inlined_into;   // the function of the symbol table; empty: not inlined
  bool is_proven = true;           // the program is proven (core/analysis/symbol_table.h)
  bool has_other_callers = false;  // the line was also inlined into other functions
  uint64_t address = 0;            // of its first instruction with the most executions
  uint64_t count = 0;              // instructions
  uint64_t data = 0;               // their data accesses

  std::string function_name() const;  // with the mark of a program that is not proven
  std::string caller_name() const;
};

struct LineReport {
  const AddressCounts& counts;
  const SymbolTable& symbols;
  SourceFiles& lines;
  DecodeTotals totals;  // all decoded events, selected or not
  size_t traces = 0;
  size_t top = 20;

  // All lines by decreasing number of instructions.
  std::vector<HotLine> rows() const;

  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

}  // namespace htmtrace
