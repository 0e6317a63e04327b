// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/callgrind.h"

#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/messages.h"
#include "cli/traces/lines.h"
#include "core/base/counted.h"
#include "output/source_lines/source_files.h"
#include "output/source_report/callgrind_file.h"

namespace htmtrace {

void put_callgrind(const CallGraph& graph, const SymbolTable& symbols, const ReportOptions& options,
                   size_t traces, TextOutput& output) {
  const auto note = [&](const std::string& text) {
    if (!options.traces.quiet) print_note(text);
  };
  if (graph.without_block() != 0 || graph.jumps_left_out() != 0) {
    note(fmt::format("constant memory: {} counted at address 0, {} omitted",
                     counted(graph.without_block(), "instruction"),
                     counted(graph.jumps_left_out(), "jump")));
  }
  // A file without lines is useful, too.
  std::unique_ptr<SourceFiles> lines;
  if (can_read_lines() && !symbols.files().empty()) lines = open_lines(symbols, options.lines);
  const CallgrindFile file{.graph = graph,
                           .symbols = symbols,
                           .lines = lines.get(),
                           .creator = "htmtrace-" HTMTRACE_VERSION,
                           .traces = traces};
  file.write(output);
  if (!lines) return;
  const SourceFiles::Use use = lines->use();
  note(fmt::format("source lines: {} of {} have them", use.with_lines,
                   counted(use.files, "program file")));
}

}  // namespace htmtrace
