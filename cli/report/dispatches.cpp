// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/dispatches.h"

#include <string>

#include "cli/dispatches/replay_options.h"

namespace htmtrace {

int report_dispatch_log(const CLI::App& command, const ReportOptions& options) {
  const std::string& file = options.traces.paths.front();
  check_dispatch_log_options(
      command, file,
      {"PATH", "format", "top", "kallsyms", "output", "force", "quiet", "color", "no-pager"});
  if (options.format != ReportFormat::kText) {
    refuse_dispatch_log_format(file, "whose report is text");
  }
  DtlOutputOptions output;
  output.summary = true;
  output.kallsyms = options.symbols.kallsyms;
  output.top = options.top.value_or(output.top);
  const DtlInput input(file);
  output.tasks = tells_tasks(input.recording());
  DtlReplay replay = replay_of(file, input);
  replay.quiet = options.traces.quiet;
  return replay_dtl(replay, output, open_output(options.traces));
}

}  // namespace htmtrace
