// SPDX-License-Identifier: GPL-2.0-or-later
// Reports of the jumps in traces: coverage, and profiles for compilers and linkers.
#pragma once

#include <string>
#include <vector>

#include "cli/report/options.h"
#include "core/analysis/symbol_table.h"
#include "core/coverage/code_edges.h"
#include "output/io/text_output.h"

namespace htmtrace {

class EdgeReport {
 public:
  // The arguments must outlive this object. Throws Error if this build cannot write the report,
  // or if no file in `symbols` can have it.
  EdgeReport(const ReportOptions& options, const SymbolTable& symbols);

  // Receives the events of the traces.
  CodeEdges& edges() { return edges_; }

  // Prints notes about the report on stderr. Throws Error.
  void put(TextOutput& output) const;

 private:
  void put_coverage(TextOutput& output) const;
  void put_llvm_profile(TextOutput& output) const;
  void put_call_order(TextOutput& output) const;
  const CodeFiles::File& chosen_program() const;
  void note(const std::string& text) const;

  const ReportOptions& options_;
  const SymbolTable& symbols_;
  CodeEdges edges_;
};

}  // namespace htmtrace
