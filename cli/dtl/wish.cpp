// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dtl/wish.h"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "cli/capture/script_options.h"
#include "cli/dispatches/merge.h"
#include "cli/dtl/metrics.h"

namespace htmtrace {
namespace {

void check_tasks_option(const DtlWish& wish) {
  const DtlOutputOptions& output = wish.options.output;
  if (!output.tasks) return;
  if (const char* format = wish.file_format()) {
    throw CLI::ValidationError(
        "--tasks", fmt::format("cannot be used with --format {}, which shows no tasks; use "
                               "--format text, json or csv",
                               format));
  }
  if (output.intervals && !output.summary && (!wish.replay.input.empty() || output.file.empty())) {
    throw CLI::ValidationError("--tasks", "--interval cannot show tasks; add --summary");
  }
  if (wish.replay.check) {
    throw CLI::ValidationError("--check", "--tasks already counts all entries");
  }
}

// Options of a new recording do not apply to an existing recording.
void check_no_capture(const CLI::App& app, const DtlWish& wish) {
  if (!wish.options.workload.empty()) {
    throw CLI::ValidationError("--input", "cannot run a program while reading a recording");
  }
  if (app.got_subcommand("top")) {
    throw CLI::ValidationError("--input", "dtl top cannot read a recording");
  }
  for (const char* option : {"--event", "--period", "--duration", "-m", "--threads", "--user",
                             "--control", "--ready-fd", "--ready-file", "--detach", "--progress",
                             "--quiet", "--metrics-interval", "--rotate", "--end-on-hotplug"}) {
    if (app.get_option(option)->count() == 0) continue;
    throw CLI::ValidationError(option, "cannot be used with --input");
  }
}

// `dtl FILE` would run the file.
void check_no_recording(const std::vector<std::string>& command) {
  if (command.size() != 1 || ::access(command[0].c_str(), X_OK) == 0) return;
  std::error_code failure;
  if (!std::filesystem::is_regular_file(command[0], failure)) return;
  throw CLI::ValidationError(command[0], "is not a program; to read a recording, use --input");
}

// Refuses options that have no effect without another option.
void check_effect(const CLI::App& app, const DtlWish& wish) {
  const auto given = [&](const char* option) { return app.get_option(option)->count() != 0; };
  const DtlOutputOptions& output = wish.options.output;
  if (app.got_subcommand("top")) {
    for (const char* option : {"--format", "--summary", "--interval", "--top", "--kallsyms"}) {
      if (given(option)) throw CLI::ValidationError(option, "cannot be used with dtl top");
    }
  }
  if (given("--top") && !output.summary && wish.replay.merged.empty()) {
    throw CLI::ValidationError("--top", "requires --summary or --merge");
  }
  if (given("--kallsyms") && !output.summary) {
    throw CLI::ValidationError("--kallsyms", "requires --summary");
  }
  const bool writes_metrics = !wish.options.metrics.file.empty();
  if (given("--processor-bits") && !output.summary && !output.intervals && !writes_metrics) {
    throw CLI::ValidationError("--processor-bits", "requires --summary, --interval or --metrics");
  }
  if (output.file.empty() && given("--force")) {
    throw CLI::ValidationError("--force", "requires -o FILE");
  }
  if (output.file.empty() && !writes_metrics && given("--mode")) {
    throw CLI::ValidationError("--mode", "requires -o FILE or --metrics FILE");
  }
  if (wish.replay.input.empty() && !output.file.empty() && !output.summary && !output.intervals &&
      given("--format")) {
    throw CLI::ValidationError(
        "--format", "has no effect with -o, which records; read the recording with --input");
  }
}

}  // namespace

void check_dtl_wish(const CLI::App& app, const DtlWish& wish) {
  const DtlOutputOptions& output = wish.options.output;
  if (output.summary && output.format != DtlFormat::kText && output.intervals) {
    throw CLI::ValidationError("--format",
                               "csv and json hold one table; choose --summary or --interval");
  }
  check_dtl_merge(app, wish.replay);
  check_tasks_option(wish);
  check_effect(app, wish);
  if (wish.replay.input.empty()) {
    check_no_recording(wish.options.workload);
    if (const char* format = wish.file_format()) {
      throw CLI::ValidationError("--format", fmt::format("{} requires --input", format));
    }
    check_detach(
        wish.options.script, !wish.options.workload.empty(),
        output.file.empty() || output.summary || output.intervals || app.got_subcommand("top"));
    if (wish.replay.check) throw CLI::ValidationError("--check", "requires --input");
    if (wish.options.rotation && output.file.empty()) {
      throw CLI::ValidationError("--rotate", "requires -o FILE");
    }
    if (wish.options.rotation && wish.force) {
      throw CLI::ValidationError("--force", "cannot be used with --rotate, which replaces no file");
    }
    if (wish.replay.from_ns || wish.replay.to_ns) {
      throw CLI::ValidationError("--from, --to", "require --input");
    }
    check_dtl_metrics(app, wish.options.metrics, wish.file_format());
    return;
  }
  check_no_capture(app, wish);
  check_dtl_metrics(app, wish.options.metrics, wish.file_format());
  if (wish.replay.from_ns && wish.replay.to_ns && *wish.replay.from_ns > *wish.replay.to_ns) {
    throw CLI::ValidationError("--from, --to", "the end is earlier than the start");
  }
  if (wish.replay.check && !output.summary && !output.intervals) {
    throw CLI::ValidationError("--check", "requires --summary or --interval");
  }
  const char* format = wish.file_format();
  if (format == nullptr) {
    if (output.file.empty()) return;
    throw CLI::ValidationError("-o", "with --input requires --format perf or perfetto");
  }
  if (output.file.empty()) {
    throw CLI::ValidationError("--format", fmt::format("{} requires -o FILE", format));
  }
  if (output.summary || output.intervals) {
    throw CLI::ValidationError(
        "--format", fmt::format("{} cannot be used with --summary or --interval", format));
  }
}

}  // namespace htmtrace
