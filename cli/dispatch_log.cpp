// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatch_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "cli/dtl_import.h"
#include "cli/dtl_replay.h"
#include "core/error.h"

namespace htmtrace {
namespace {

// The names are those of `command`, with what it calls an argument first.
void check_options(const CLI::App& command, const std::string& file,
                   std::initializer_list<std::string_view> usable) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_single_name();
    if (option->count() == 0 || std::ranges::find(usable, name) != usable.end()) continue;
    throw Error(fmt::format("--{} cannot be used with {}: it is a dispatch trace log", name, file))
        .hint("htmtrace dtl --input " + file + " has options of its own");
  }
}

[[noreturn]] void refuse_format(const std::string& file, const char* what) {
  throw Error(
      fmt::format("cannot write {} in that format: it is a dispatch trace log, {}", file, what))
      .hint("for other formats see htmtrace dtl --input");
}

DtlFormat format_of(const DecodeOptions& options, const std::string& file) {
  switch (options.format) {
    case DecodeFormat::kText:
      return DtlFormat::kText;
    case DecodeFormat::kJson:
      return DtlFormat::kJson;
    case DecodeFormat::kCsv:
      return DtlFormat::kCsv;
    case DecodeFormat::kQtrace:
    case DecodeFormat::kBlockVectors:
    case DecodeFormat::kHtmdecode:
    case DecodeFormat::kAvro:
    case DecodeFormat::kParquet:
      break;
  }
  refuse_format(file, "which decode prints as text, json or csv");
}

DtlReplay replay_of(const std::string& file, const DtlInput& input) {
  DtlReplay replay;
  replay.input = input.recording();
  replay.name = file;
  return replay;
}

}  // namespace

bool is_one_dispatch_log(const std::vector<std::string>& paths) {
  return paths.size() == 1 && paths.front() != "-" && is_dispatch_log(paths.front());
}

int decode_dispatch_log(const CLI::App& command, const DecodeOptions& options) {
  const std::string& file = options.traces.paths.front();
  check_options(command, file, {"PATH", "format", "summary", "quiet", "output", "force"});
  DtlOutputOptions output;
  output.format = format_of(options, file);
  output.summary = options.summary;
  const DtlInput input(file);
  DtlReplay replay = replay_of(file, input);
  replay.quiet = options.quiet;
  return replay_dtl(replay, output, open_output(options.traces));
}

int report_dispatch_log(const CLI::App& command, const ReportOptions& options) {
  const std::string& file = options.traces.paths.front();
  check_options(command, file, {"PATH", "format", "top", "kallsyms", "output", "force"});
  if (options.format != ReportFormat::kText) refuse_format(file, "whose report is text");
  DtlOutputOptions output;
  output.summary = true;
  output.kallsyms = options.symbols.kallsyms;
  output.top = options.top.value_or(output.top);
  const DtlInput input(file);
  output.tasks = tells_tasks(input.recording());
  return replay_dtl(replay_of(file, input), output, open_output(options.traces));
}

}  // namespace htmtrace
