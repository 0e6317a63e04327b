// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace dtl: options, checks that need no hardware, and the order of things.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/cpu_list.h"
#include "cli/dtl_capture.h"
#include "cli/dtl_import.h"
#include "cli/dtl_replay.h"
#include "cli/input_guard.h"
#include "cli/number_from.h"
#include "cli/schedule_options.h"
#include "cli/signals.h"
#include "cli/units.h"
#include "pmu/dtl_event.h"

namespace htmtrace {
namespace {

constexpr auto kLongestPeriod = std::chrono::seconds(10);
constexpr auto kLeastTopInterval = std::chrono::milliseconds(100);
constexpr auto kShortestInterval = std::chrono::milliseconds(1);
constexpr uint64_t kMostRingBytes = 1 << 30;

struct Wish {
  DtlOptions options;
  DtlReplay replay;
  bool all_cpus = true;
  bool force = false;
  bool perf_data = false;
  bool timeline = false;

  // A whole file, the one of -o.
  const char* file_format() const { return perf_data ? "perf" : timeline ? "perfetto" : nullptr; }
};

std::optional<std::chrono::nanoseconds> parse_period(const std::string& text) {
  if (text == "auto") return std::nullopt;
  const auto period = time_of_option("--period", text);
  if (period.count() < static_cast<int64_t>(kLeastOwnDtlPeriodNs)) {
    throw CLI::ValidationError("--period", text + ": 100us at least");
  }
  if (period > kLongestPeriod) throw CLI::ValidationError("--period", text + ": 10s at most");
  return period;
}

std::vector<int> parse_cpus(const std::string& text) {
  if (const auto cpus = parse_cpu_list(text)) return *cpus;
  throw CLI::ValidationError("--cpu", text + ": not all, nor a list such as 0-7,16");
}

size_t parse_aux_size(const std::string& text) {
  const auto size = parse_size(text);
  if (size && std::has_single_bit(*size) && *size >= DtlRings::kLeastAuxBytes &&
      *size <= kMostRingBytes) {
    return *size;
  }
  throw CLI::ValidationError("-m", text + ": not a power of two from 64K to 1G");
}

// "8,12"
ProcessorBits parse_bits(const std::string& text) {
  ProcessorBits bits;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%2u,%2u%c", &bits.chip, &bits.node, &rest) == 2 &&
      bits.chip <= bits.node && bits.node <= 16) {
    return bits;
  }
  throw CLI::ValidationError("--processor-bits", text + ": not two numbers such as 8,12");
}

DtlFormat parse_format(const std::string& text) {
  if (text == "text") return DtlFormat::kText;
  if (text == "json") return DtlFormat::kJson;
  if (text == "csv") return DtlFormat::kCsv;
  throw CLI::ValidationError("--format", text + ": not text, json, csv, perf or perfetto");
}

DtlIntervals parse_intervals(const std::string& text) {
  const auto length = time_of_option("--interval", text);
  if (length >= kShortestInterval) return {static_cast<uint64_t>(length.count())};
  throw CLI::ValidationError("--interval", text + ": 1ms at least");
}

// Seconds since boot.
uint64_t parse_since_boot(const char* option, const std::string& text) {
  if (const auto moment = parse_moment(text)) return *moment;
  throw CLI::ValidationError(option, text + ": no time such as 12.345678901, seconds since boot");
}

void check_tasks_option(const Wish& wish) {
  const DtlOutputOptions& output = wish.options.output;
  if (!output.tasks) return;
  if (wish.file_format() != nullptr) {
    throw CLI::ValidationError("--tasks", fmt::format("{} has none", wish.file_format()));
  }
  if (output.intervals && !output.summary && (!wish.replay.input.empty() || output.file.empty())) {
    throw CLI::ValidationError("--tasks", "a series has none; --summary tells which task waited");
  }
  if (wish.replay.check) {
    throw CLI::ValidationError("--check", "with --tasks all entries are counted anyway");
  }
}

// What is recorded is no matter of a recording that is there.
void check_no_capture(const CLI::App& app, const Wish& wish) {
  if (!wish.options.workload.empty()) {
    throw CLI::ValidationError("--input", "a recording that is read has no workload");
  }
  if (app.got_subcommand("top")) {
    throw CLI::ValidationError("--input", "top shows what happens now, and no recording");
  }
  for (const char* option : {"--event", "--period", "--duration", "-m", "--threads"}) {
    if (app.get_option(option)->count() == 0) continue;
    throw CLI::ValidationError(option, "it is for what is being recorded, not with --input");
  }
}

// What does not go together.
void check(const CLI::App& app, const Wish& wish) {
  const DtlOutputOptions& output = wish.options.output;
  if (output.summary && output.format != DtlFormat::kText && output.intervals) {
    throw CLI::ValidationError("--format",
                               "csv and json have one table: --summary or --interval, not both");
  }
  check_tasks_option(wish);
  if (wish.replay.input.empty()) {
    if (const char* format = wish.file_format()) {
      throw CLI::ValidationError("--format", fmt::format("{} is for recordings: --input", format));
    }
    if (wish.replay.check) throw CLI::ValidationError("--check", "it is for recordings: --input");
    if (wish.replay.from_ns || wish.replay.to_ns) {
      throw CLI::ValidationError("--from, --to", "they are for recordings: --input");
    }
    return;
  }
  check_no_capture(app, wish);
  if (wish.replay.from_ns && wish.replay.to_ns && *wish.replay.from_ns > *wish.replay.to_ns) {
    throw CLI::ValidationError("--from, --to", "the end is before the beginning");
  }
  if (wish.replay.check && !output.summary && !output.intervals) {
    throw CLI::ValidationError("--check", "what is checked is the summary: --summary, --interval");
  }
  const char* format = wish.file_format();
  if (format == nullptr) {
    if (output.file.empty()) return;
    throw CLI::ValidationError(
        "-o", "of a recording that is read only --format perf and perfetto are written");
  }
  if (output.file.empty()) {
    throw CLI::ValidationError("--format", fmt::format("{} needs a file: -o", format));
  }
  if (output.summary || output.intervals) {
    throw CLI::ValidationError("--format", fmt::format("{} has no summary", format));
  }
}

int replay(const Wish& wish) {
  DtlReplay replay = wish.replay;
  replay.name = replay.input.string();
  const DtlInput input(replay.input);
  replay.input = input.recording();
  if (!wish.all_cpus) replay.cpus = wish.options.cpus;
  const DtlOutputOptions& output = wish.options.output;
  check_is_no_input(output.file, {wish.replay.input.string()});
  const Existing existing = wish.force ? Existing::kReplace : Existing::kRefuse;
  if (wish.perf_data) return export_dtl(replay, output.file, existing);
  if (wish.timeline) return export_timeline(replay, output.file, existing);
  return replay_dtl(replay, output);
}

int capture(const Wish& wish, Signals& signals) {
  signals.watch();
  DtlOptions options = wish.options;
  options.output.existing = wish.force ? Existing::kReplace : Existing::kRefuse;
  if (!options.workload.empty()) check_program(options.workload.front());
  const Fd lock = lock_dtl_pmu();
  if (wish.all_cpus) options.cpus = online_cpus();
  return DtlCapture(options, signals).run();
}

std::string no_standard_output(const std::string& file) {
  return file == "-" ? "a recording is a file: without -o, entries go to standard output as text"
                     : "";
}

// What becomes of the entries.
void declare_output(CLI::App& app, const std::shared_ptr<Wish>& wish) {
  DtlOutputOptions& output = wish->options.output;
  app.add_option("-o,--output", output.file, "Record to this file; no entries are printed")
      ->check(no_standard_output)
      ->type_name("FILE");
  app.add_flag("--force", wish->force, "Replace the file of -o");
  app.add_option(
         "-i,--input", wish->replay.input,
         "Read a recording instead of making one: ours, or a perf.data file with vpa_dtl events")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--from",
         [wish](const std::string& text) {
           wish->replay.from_ns = parse_since_boot("--from", text);
         },
         "With --input: entries from this time on, as they are printed (seconds since boot)")
      ->type_name("TIME");
  app.add_option_function<std::string>(
         "--to",
         [wish](const std::string& text) { wish->replay.to_ns = parse_since_boot("--to", text); },
         "With --input: entries up to this time")
      ->type_name("TIME");
  app.add_option_function<std::string>(
         "--format",
         [wish](const std::string& text) {
           wish->perf_data = text == "perf";
           wish->timeline = text == "perfetto";
           if (wish->file_format() == nullptr) wish->options.output.format = parse_format(text);
         },
         "text, json or csv; with --input and -o also perf, a perf.data file, and perfetto, a "
         "timeline (default: text)")
      ->type_name("FORMAT");
  app.add_flag("--summary", output.summary, "Print an analysis in place of the entries");
  app.add_option_function<std::string>(
         "--interval",
         [wish](const std::string& text) {
           wish->options.output.intervals = parse_intervals(text);
         },
         "In place of the entries: what was stolen, moved and late in each interval of this length")
      ->type_name("TIME");
  app.add_flag("--check", wish->replay.check,
               "With --input and --summary or --interval: count the entries, and compare the "
               "file's statistics");
  app.add_flag("--tasks", output.tasks,
               "Which task was there: in each line, in the summary, and in the file of -o");
  app.add_option("--top", output.top, "Lines of the summary's long tables (default: 10)")
      ->check(CLI::Range(1, 100000).description(""))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--processor-bits",
         [wish](const std::string& text) { wish->options.output.bits = parse_bits(text); },
         "For the summary: from which bit on processor numbers name the chip, and the node")
      ->type_name("CHIP,NODE");
  app.add_option(
         "--kallsyms", output.kallsyms,
         "Kernel symbols for the summary (default: /proc/kallsyms, for entries of this kernel)")
      ->type_name("FILE");
}

// What is recorded.
void declare_capture(CLI::App& app, const std::shared_ptr<Wish>& wish) {
  app.add_option_function<std::string>(
         "--cpu",
         [wish](const std::string& text) {
           wish->all_cpus = text == "all";
           if (!wish->all_cpus) wish->options.cpus = parse_cpus(text);
         },
         "Virtual processors: all, or a list such as 0-7,16")
      ->type_name("LIST")
      ->default_str("all");
  app.add_option(
         "--event", wish->options.event,
         "Entries for dispatches after: cede (the partition gave the processor up), preempt "
         "(end of a time slice), fault (a page of the partition's memory was missing), all")
      ->check(CLI::IsMember({"all", "cede", "preempt", "fault"}).description(""))
      ->type_name("EVENT")
      ->default_str("all");
  app.add_option_function<std::string>(
         "--period", [wish](const std::string& text) { wish->options.period = parse_period(text); },
         "How often the kernel looks at the log: 1ms (htmtrace's driver: 100us) to 10s, or auto, "
         "which tries for a fifth of a second how fast it fills")
      ->type_name("TIME")
      ->default_str("auto");
  app.add_option_function<std::string>(
         "--duration",
         [wish](const std::string& text) {
           wish->options.duration = time_of_option("--duration", text);
         },
         "End after this time: 500ms, 10s, 2m (default: when the workload ends, or Ctrl-C)")
      ->type_name("TIME");
  app.add_option_function<std::string>(
         "-m", [wish](const std::string& text) { wish->options.aux_bytes = parse_aux_size(text); },
         "Size of the AUX ring of each CPU, a power of two with K, M or G (default: 8M, less with "
         "more than 64 CPUs or if the memory-lock limit asks for it)")
      ->type_name("SIZE");
  app.add_option("--threads", wish->options.threads,
                 "Threads that empty the rings (default: one for 96 CPUs)")
      ->check(CLI::Range(1, 64).description(""));
  app.add_option("workload", wish->options.workload,
                 "Program to run and its arguments; put -- first")
      ->type_name("");
  app.positionals_at_end();
}

DtlTopOrder parse_order(const std::string& text) {
  if (text == "stolen") return DtlTopOrder::kStolen;
  if (text == "latency") return DtlTopOrder::kLatency;
  if (text == "dispatches") return DtlTopOrder::kDispatches;
  if (text == "moved") return DtlTopOrder::kMoved;
  return DtlTopOrder::kCpu;
}

// `htmtrace dtl top`
void declare_top(CLI::App& app, const std::shared_ptr<Wish>& wish) {
  declare_capture(app, wish);
  const auto top = std::make_shared<DtlTopOptions>();
  app.add_option_function<std::string>(
         "--interval",
         [top](const std::string& text) {
           top->interval = time_of_option("--interval", text);
           if (top->interval >= kLeastTopInterval) return;
           throw CLI::ValidationError("--interval", text + ": 100ms at least");
         },
         "Time between two screens, 100ms at least")
      ->type_name("TIME")
      ->default_str("1s");
  app.add_option("--count", top->count, "End after so many screens (default: at Ctrl-C)")
      ->check(number_from(1))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--sort", [top](const std::string& text) { top->order = parse_order(text); },
         "What stands highest: stolen time, latency (99th percentile of the wait), dispatches, "
         "moved, or "
         "the lowest cpu")
      ->check(CLI::IsMember({"stolen", "latency", "dispatches", "moved", "cpu"}).description(""))
      ->type_name("WHAT")
      ->default_str("stolen");
  app.add_option("-o,--output", wish->options.output.file, "Record to this file meanwhile")
      ->check(no_standard_output)
      ->type_name("FILE");
  app.add_flag("--force", wish->force, "Replace the file of -o");
  app.final_callback([wish, top] { wish->options.top = *top; });
}

}  // namespace

Action declare_dtl(CLI::App& app, Signals& signals) {
  auto wish = std::make_shared<Wish>();
  declare_capture(app, wish);
  declare_output(app, wish);
  declare_top(*app.add_subcommand("top", "Show every second what each virtual processor does"),
              wish);
  app.parse_complete_callback([&app, wish] { check(app, *wish); });
  return [wish, &signals] {
    if (wish->replay.input.empty()) return capture(*wish, signals);
    signals.release();
    return replay(*wish);
  };
}

}  // namespace htmtrace
