// SPDX-License-Identifier: GPL-2.0-or-later
// Prints functions with their source lines and instructions. htmtrace-annotate(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/address_counts.h"
#include "core/analysis/name_selection.h"
#include "core/analysis/symbol_table.h"
#include "output/report/decode_report.h"
#include "output/source_lines/source_files.h"
#include "output/source_lines/source_text.h"

namespace htmtrace {

// A function with the instructions that a trace executed in it.
struct ExecutedFunction {
  std::string name;  // with the mark of a program that is not proven
  uint64_t key = 0;  // an address of it, with its owner
  uint64_t begin = 0;
  uint64_t end = 0;
  size_t program = SymbolTable::File::kNoProgram;
  uint64_t count = 0;  // instructions
};

// The functions by decreasing number of instructions. With `chosen`, only its functions. Addresses
// without a symbol belong to no function.
std::vector<ExecutedFunction> executed_functions(const AddressCounts& counts,
                                                 const SymbolTable& symbols,
                                                 const SymbolSet* chosen);

struct AnnotateReport {
  const AddressCounts& counts;
  const SymbolTable& symbols;
  SourceFiles& lines;
  SourceText& sources;
  std::vector<ExecutedFunction> functions;  // to print
  DecodeTotals totals;
  size_t traces = 0;

  // Passes the report in pieces, because it may be far larger than its input. Instructions that did
  // not run are omitted after the first kMostIdle of a function.
  using Put = std::function<void(std::string_view)>;
  static constexpr size_t kMostIdle = 100'000;
  void put_text(const Put& put) const;
  void put_json(const Put& put) const;
};

}  // namespace htmtrace
