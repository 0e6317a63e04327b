// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace dtl: options, checks without hardware, and the sequence of a recording.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/capture/control_channel.h"
#include "cli/capture/ready_notice.h"
#include "cli/capture/recorder.h"
#include "cli/capture/script_options.h"
#include "cli/capture/user_option.h"
#include "cli/commands.h"
#include "cli/cpu_list.h"
#include "cli/dispatches/import.h"
#include "cli/dispatches/merge.h"
#include "cli/dispatches/metrics.h"
#include "cli/dispatches/replay.h"
#include "cli/dtl/capture.h"
#include "cli/dtl/option_values.h"
#include "cli/dtl/output_files.h"
#include "cli/dtl/wish.h"
#include "cli/file_mode.h"
#include "cli/help.h"
#include "cli/not_empty.h"
#include "cli/number_from.h"
#include "cli/sandbox.h"
#include "cli/signals.h"
#include "cli/time_option.h"
#include "output/recording/input_guard.h"
#include "pmu/dtl_event.h"

namespace htmtrace {
namespace {

constexpr auto kLeastTopInterval = std::chrono::milliseconds(100);

void confine(const DtlWish& wish) {
  const std::filesystem::path& input = wish.replay.input;
  std::vector<std::filesystem::path> files{input};
  files.insert(files.end(), wish.replay.merged.begin(), wish.replay.merged.end());
  const bool scratch = std::ranges::any_of(files, may_be_perf_data);
  files.push_back(wish.options.output.kallsyms);
  enter_sandbox({.files = files,
                 .listed = {input.has_parent_path() ? input.parent_path() : "."},
                 .outputs = {wish.options.output.file, wish.options.metrics.file},
                 .scratch = scratch});
}

// Neither -o nor --metrics may replace a file that the command reads.
void check_outputs(const DtlWish& wish) {
  const std::vector<std::string> inputs = {wish.replay.input.string(),
                                           wish.options.output.kallsyms.string()};
  check_is_no_input(wish.options.output.file, inputs);
  check_is_no_input(wish.options.metrics.file, inputs);
  if (!wish.options.metrics.file.empty()) check_metrics_file(wish.options.metrics.file);
}

int replay(const DtlWish& wish) {
  if (!wish.no_sandbox) confine(wish);
  DtlReplay replay = wish.replay;
  replay.name = replay.input.string();
  check_merge_input(replay);
  const DtlInput input(replay.input);
  replay.input = input.recording();
  if (!wish.all_cpus) replay.cpus = wish.options.cpus;
  replay.metrics = wish.options.metrics.file;
  DtlOutputOptions output = wish.options.output;
  output.silent = !replay.metrics.empty();
  check_outputs(wish);
  const Existing existing = wish.force ? Existing::kReplace : Existing::kRefuse;
  if (wish.perf_data) return export_dtl(replay, output.file, existing);
  if (wish.timeline) return export_timeline(replay, output.file, existing);
  return replay.merged.empty() ? replay_dtl(replay, output) : merge_dtl(replay, output);
}

int capture(const DtlWish& wish, Signals& signals, ReadyNotice& ready) {
  signals.watch();
  DtlOptions options = wish.options;
  options.output.existing = wish.force ? Existing::kReplace : Existing::kRefuse;
  options.output.silent = !options.metrics.file.empty();
  if (options.output.silent) {
    check_is_no_recording(options.metrics.file, options.output.file, options.rotation.has_value());
  }
  check_outputs(wish);
  if (options.rotation) check_can_rotate(options.output.file);
  std::optional<ControlChannel> control;
  as_user(options.user, [&] {
    if (!options.workload.empty()) check_program(options.workload.front());
    if (!options.output.file.empty()) check_can_write(options.output.file, "-o");
    if (!options.metrics.file.empty()) check_can_write(options.metrics.file, "--metrics");
    if (!options.script.control.empty()) control.emplace(options.script.control);
  });
  if (wish.end_on_hotplug) options.end_unless_online = online_cpu_list();
  if (wish.all_cpus) {
    options.cpus = online_cpus();
  } else {
    check_online(options.cpus);
  }
  const Fd lock = lock_dtl_pmu();
  return DtlCapture(options, signals, ready, control ? &*control : nullptr).run();
}

std::string no_standard_output(const std::string& file) {
  return file == "-" ? "cannot record to standard output; without -o, htmtrace prints the entries"
                     : "";
}

// The options for the output of the entries.
void declare_output(CLI::App& app, const std::shared_ptr<DtlWish>& wish) {
  DtlOutputOptions& output = wish->options.output;
  app.option_defaults()->group(kOutputGroup);
  app.add_option("-o,--output", output.file, "Record to FILE instead of printing entries")
      ->check(not_empty("file"))
      ->check(no_standard_output)
      ->type_name("FILE");
  app.add_flag("--force", wish->force, "Replace the file that -o names");
  declare_file_mode(app);
  app.option_defaults()->group(kInputGroup);
  app.add_option("-i,--input", wish->replay.input, "Read a recording or a perf.data file")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--from",
         [wish](const std::string& text) {
           wish->replay.from_ns = parse_since_boot("--from", text);
         },
         "Read entries from TIME on (seconds since boot)")
      ->type_name("TIME");
  app.add_option_function<std::string>(
         "--to",
         [wish](const std::string& text) { wish->replay.to_ns = parse_since_boot("--to", text); },
         "Read entries up to TIME (seconds since boot)")
      ->type_name("TIME");
  app.add_flag(kNoSandbox, wish->no_sandbox, kNoSandboxHelp);
  app.option_defaults()->group(kOutputGroup);
  app.add_option_function<std::string>(
         "--format",
         [wish](const std::string& text) {
           wish->perf_data = text == "perf";
           wish->timeline = text == "perfetto";
           if (wish->file_format() == nullptr) wish->options.output.format = parse_format(text);
         },
         "Format: text, json, csv; for --input also perf, perfetto [text]")
      ->type_name("FORMAT");
  declare_dtl_metrics(app, wish->options.metrics);
  declare_dtl_rotation(app, wish->options.rotation);
  app.option_defaults()->group(kReportGroup);
  app.add_flag("--summary", output.summary, "Print an analysis instead of entries");
  app.add_option_function<std::string>(
         "--interval",
         [wish](const std::string& text) {
           wish->options.output.intervals = parse_intervals(text);
         },
         "Print stolen time and moves for each TIME")
      ->type_name("TIME");
  declare_dtl_merge(app, wish->replay.merged);
  app.add_flag("--check", wish->replay.check, "Compare the file's statistics with its entries");
  app.add_flag("--tasks", output.tasks, "Name the task that each entry interrupted");
  app.add_option("--top", output.top, "Lines per table of the summary [10]")
      ->check(CLI::Range(1, 100000).description(""))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--processor-bits",
         [wish](const std::string& text) { wish->options.output.bits = parse_bits(text); },
         "First bits of chip and node in processor numbers")
      ->type_name("CHIP,NODE");
  app.add_option("--kallsyms", output.kallsyms, "Kernel symbols for the summary [/proc/kallsyms]")
      ->type_name("FILE");
}

// The options for the recording.
void declare_capture(CLI::App& app, const std::shared_ptr<DtlWish>& wish) {
  app.option_defaults()->group(kTargetGroup);
  app.add_option_function<std::string>(
         "--cpu",
         [wish](const std::string& text) {
           wish->all_cpus = text == "all";
           if (!wish->all_cpus) wish->options.cpus = parse_cpus(text);
         },
         "Virtual processors: all, or 0-7,16 [all]")
      ->type_name("LIST")
      ->default_str("all");
  app.add_option("--event", wish->options.event,
                 "Dispatches after: cede, preempt, fault, all [all]")
      ->check(CLI::IsMember({"all", "cede", "preempt", "fault"}).description(""))
      ->type_name("EVENT")
      ->default_str("all");
  app.option_defaults()->group(kScheduleGroup);
  app.add_option_function<std::string>(
         "--period", [wish](const std::string& text) { wish->options.period = parse_period(text); },
         "Time between reads of the log: 100us to 10s [auto]")
      ->type_name("TIME")
      ->default_str("auto");
  app.add_option_function<std::string>(
         "--duration",
         [wish](const std::string& text) {
           wish->options.duration = time_of_option("--duration", text);
         },
         "End after TIME: 500ms, 10s, 2m [end of PROGRAM]")
      ->type_name("TIME");
  app.add_flag("--end-on-hotplug", wish->end_on_hotplug,
               "End when a CPU goes offline or comes online");
  app.option_defaults()->group(kRingGroup);
  app.add_option_function<std::string>(
         "-m", [wish](const std::string& text) { wish->options.aux_bytes = parse_aux_size(text); },
         "AUX ring size of each CPU, a power of two [8M]")
      ->type_name("SIZE");
  app.add_option("--threads", wish->options.threads,
                 "Threads that drain the rings [one per 96 CPUs]")
      ->type_name("N")
      ->check(CLI::Range(1, 64).description(""));
  declare_script_options(app, wish->options.script, "stop, ping");
  app.option_defaults()->group(kOutputGroup);
  declare_user(app, wish->options.user);
  app.add_option("workload", wish->options.workload, "Program to run, with its arguments")
      ->type_name("-- PROGRAM");
  app.positionals_at_end();
}

// `htmtrace dtl top`
void declare_top(CLI::App& app, const std::shared_ptr<DtlWish>& wish) {
  declare_capture(app, wish);
  const auto top = std::make_shared<DtlTopOptions>();
  app.option_defaults()->group(kReportGroup);
  app.add_option_function<std::string>(
         "--interval",
         [top](const std::string& text) {
           top->interval = time_of_option("--interval", text);
           if (top->interval >= kLeastTopInterval) return;
           throw CLI::ValidationError("--interval", text + " is shorter than 100ms");
         },
         "Time between screens, 100ms or more [1s]")
      ->type_name("TIME")
      ->default_str("1s");
  app.add_option("--count", top->count, "End after N screens [at Ctrl-C]")
      ->check(number_from(1))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--sort", [top](const std::string& text) { top->order = parse_order(text); },
         "Sort by: stolen, latency, dispatches, moved, cpu [stolen]")
      ->check(CLI::IsMember({"stolen", "latency", "dispatches", "moved", "cpu"}).description(""))
      ->type_name("WHAT")
      ->default_str("stolen");
  app.option_defaults()->group(kOutputGroup);
  app.add_option("-o,--output", wish->options.output.file, "Also record to FILE")
      ->check(not_empty("file"))
      ->check(no_standard_output)
      ->type_name("FILE");
  app.add_flag("--force", wish->force, "Replace the file that -o names");
  declare_file_mode(app);
  declare_dtl_metrics(app, wish->options.metrics);
  set_common_options(app, {"--cpu", "--interval", "--count", "--sort", "--output"});
  app.footer(
      "Example:\n"
      "  htmtrace dtl top --sort latency");
  app.final_callback([wish, top] { wish->options.top = *top; });
}

}  // namespace

Action declare_dtl(CLI::App& app, Signals& signals) {
  auto wish = std::make_shared<DtlWish>();
  declare_capture(app, wish);
  declare_output(app, wish);
  declare_top(*app.add_subcommand("top", "Show each virtual processor's activity live"), wish);
  set_common_options(app, {"--output", "--input", "--summary", "--duration", "--tasks"});
  app.footer(
      "Example:\n"
      "  htmtrace dtl --summary --duration 10s");
  app.parse_complete_callback([&app, wish] { check_dtl_wish(app, *wish); });
  return [wish, &signals] {
    if (wish->replay.input.empty()) {
      return run_recorder(wish->options.script, wish->options.output.file, signals,
                          [&](ReadyNotice& ready) { return capture(*wish, signals, ready); });
    }
    signals.release();
    return replay(*wish);
  };
}

}  // namespace htmtrace
