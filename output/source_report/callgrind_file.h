// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the calls of core traces as a callgrind file: Valgrind's manual, "Callgrind Format
// Specification". htmtrace-report(1), CALLGRIND FILES.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/analysis/symbol_table.h"
#include "core/call_stacks/call_graph.h"
#include "output/io/text_output.h"
#include "output/source_lines/source_files.h"

namespace htmtrace {

struct CallgrindFile {
  // The caller of the outermost functions.
  static constexpr std::string_view kOutermost = "[trace]";

  const CallGraph& graph;
  const SymbolTable& symbols;
  SourceFiles* lines = nullptr;  // null: no source lines
  std::string_view creator;      // the program and its version
  size_t traces = 0;

  // Throws Error if the output cannot be written.
  void write(TextOutput& output) const;
};

}  // namespace htmtrace
