// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/decode/dispatches.h"

#include <string>

#include "cli/dispatches/replay_options.h"

namespace htmtrace {
namespace {

DtlFormat dispatch_format_of(const DecodeOptions& options, const std::string& file) {
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
    case DecodeFormat::kPerf:
      break;
  }
  refuse_dispatch_log_format(file, "which decode prints as text, json or csv");
}

}  // namespace

int decode_dispatch_log(const CLI::App& command, const DecodeOptions& options) {
  const std::string& file = options.traces.paths.front();
  check_dispatch_log_options(command, file,
                             {"PATH", "format", "summary", "quiet", "output", "force", "no-pager"});
  DtlOutputOptions output;
  output.format = dispatch_format_of(options, file);
  output.summary = options.summary;
  const DtlInput input(file);
  DtlReplay replay = replay_of(file, input);
  replay.quiet = options.traces.quiet;
  return replay_dtl(replay, output, open_output(options.traces));
}

}  // namespace htmtrace
