// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace record: options, checks without hardware, and the sequence of a recording.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/capture/htm_source.h"
#include "cli/capture/ready_notice.h"
#include "cli/capture/recorder.h"
#include "cli/capture/target_options.h"
#include "cli/capture/user_option.h"
#include "cli/commands.h"
#include "cli/file_mode.h"
#include "cli/help.h"
#include "cli/messages.h"
#include "cli/not_empty.h"
#include "cli/record/located_targets.h"
#include "cli/record/recording.h"
#include "cli/record/schedule_options.h"
#include "cli/record/trigger_options.h"
#include "cli/signals.h"
#include "cli/units.h"
#include "output/recording/files.h"

namespace htmtrace {
namespace {

// A sample record with a whole block of the memory map has almost 64 KiB, and a record must be
// smaller than the ring.
constexpr uint64_t kLeastDataBytes = 128 << 10;
// The drivers move whole pages, and need room for one more page than the unread pages.
constexpr uint64_t kLeastAuxPages = 4;
// Half of the ring size must fit the 32 bits of attr.aux_watermark.
constexpr uint64_t kMostBytes = uint64_t{4} << 30;

CLI::ValidationError bad_ring(const std::string& text, const std::string& why) {
  return CLI::ValidationError("-m", fmt::format("{}: {}", text, why));
}

size_t parse_ring(const std::string& text, const char* what, uint64_t least) {
  const auto size = parse_size(text);
  if (!size) throw bad_ring(text, fmt::format("{} size is not a number with K, M or G", what));
  if (!std::has_single_bit(*size)) {
    throw bad_ring(text, fmt::format("{} size must be a power of two", what));
  }
  if (*size < least) {
    throw bad_ring(text, fmt::format("{} must have {}K at least", what, least >> 10));
  }
  if (*size > kMostBytes) throw bad_ring(text, fmt::format("{} can have 4G at most", what));
  return *size;
}

// "DATA" or "DATA,AUX".
RingSizes parse_rings(const std::string& text) {
  constexpr size_t kUsualAuxBytes = 8 << 20;
  const size_t comma = text.find(',');
  RingSizes sizes;
  sizes.data_bytes =
      parse_ring(text.substr(0, comma), "the data ring", std::max(kLeastDataBytes, page_size()));
  sizes.aux_bytes = comma == std::string::npos ? kUsualAuxBytes
                                               : parse_ring(text.substr(comma + 1), "the AUX ring",
                                                            kLeastAuxPages * page_size());
  return sizes;
}

// An empty text selects the default level.
int parse_level(const std::string& text) {
  if (!can_compress()) {
    throw CLI::ValidationError("--compress", "htmtrace was built without libzstd");
  }
  int level = 1;
  const char* end = text.data() + text.size();
  const auto [after, failure] = std::from_chars(text.data(), end, level);
  const bool bad = failure != std::errc() || after != end || level < 1;
  if (!text.empty() && (bad || level > most_compression())) {
    throw CLI::ValidationError(
        "--compress", fmt::format("{} is not a level from 1 to {}", text, most_compression()));
  }
  return level;
}

std::vector<int> carriers_of(const std::vector<HtmSource>& sources) {
  std::vector<int> cpus;
  cpus.reserve(sources.size());
  for (const HtmSource& source : sources) cpus.push_back(source.carrier_cpu());
  return cpus;
}

// Without this note, users wait for a trace that never starts.
std::string carriers_decide(const std::vector<HtmSource>& sources) {
  std::string cpus;
  for (const HtmSource& source : sources) {
    cpus += fmt::format("{}{}", cpus.empty() ? "" : ", ", source.carrier_cpu());
  }
  return fmt::format(
      "only events on cpu {} pause and resume the trace; --bind runs the workload there", cpus);
}

void check_stream() {
  if (::isatty(STDOUT_FILENO) == 0) return;
  throw Error("cannot write the recording to a terminal")
      .hint("write to a folder with -o DIR, or pipe the stream: | htmtrace decode -");
}

// A busy hypervisor can delay the open for seconds, and only a fatal signal ends the wait.
Sources open_all(const SourceWish& wish, Signals& signals) {
  const Signals::Impatient impatient(signals);
  return open_sources(wish);
}

int record(RecordOptions options, Signals& signals, ReadyNotice& ready) {
  signals.watch();
  if (options.streams()) check_stream();
  as_user(options.user, [&] {
    if (!options.workload.empty()) check_program(options.workload.front());
  });
  if (options.located_cpus) locate_targets(options, signals);
  std::optional<ControlChannel> control;
  as_user(options.user, [&] {
    if (!options.streams()) {
      check_session_folder(options.folder, options.source.targets, options.existing);
    }
    if (!options.script.control.empty()) control.emplace(options.script.control);
  });
  Sources sources = open_all(options.source, signals);
  if (sources.rings_shrunk && !options.script.quiet) {
    print_note(
        fmt::format("memory-lock limit: using {}K of data ring and {}K of AUX ring for each target "
                    "(kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK, CAP_IPC_LOCK)",
                    sources.sizes.data_bytes >> 10, sources.sizes.aux_bytes >> 10));
  }
  if (sources.first_driver) {
    print_note("warning: this kernel's htm driver can overwrite kernel memory");
  }
  if (options.bind) options.program_cpus = carriers_of(sources.list);
  if (sources.triggers.any() && options.program_cpus.empty() && !options.script.quiet)
    print_note(carriers_decide(sources.list));
  std::optional<Workload> workload;
  if (!options.workload.empty()) {
    workload.emplace(options.workload, signals, options.streams(), options.user);
  }
  return Recording(options, sources.list, signals, ready, control ? &*control : nullptr,
                   workload ? &*workload : nullptr)
      .run();
}

struct RecordWords {
  RecordOptions options;
  TargetWords targets;
};

using Words = std::shared_ptr<RecordWords>;

void declare_carriers(CLI::App& app, const Words& words) {
  app.option_defaults()->group(kRingGroup);
  app.add_option_function<std::string>(
         "--cpu",
         [words](const std::string& text) {
           const std::vector<uint32_t> cpus = parse_indices("--cpu", text);
           words->options.source.cpus.assign(cpus.begin(), cpus.end());
         },
         "Carrier CPUs of the targets [chosen by htmtrace]")
      ->type_name("LIST");
}

// Without a target, htmtrace chooses a CPU for the program.
void choose_targets(RecordWords& words) {
  RecordOptions& options = words.options;
  const bool named = has_targets(words.targets);
  if (named && options.located_cpus) {
    throw CLI::ValidationError("--cpu-target",
                               "cannot be used with --node, --chip, --core or --target");
  }
  if (named) {
    options.source.targets = expand_targets(words.targets);
    return;
  }
  if (!options.located_cpus) {
    if (options.workload.empty()) throw CLI::RequiredError("--chip, --cpu-target or a program");
    options.located_cpus.emplace();
  }
  options.located_types = words.targets.types;
}

// Runs the checks that need the whole command line.
void complete(RecordWords& words) {
  SourceWish& source = words.options.source;
  check_triggers(words.options);
  check_schedule(words.options);
  check_detach(words.options.script, !words.options.workload.empty(), words.options.streams());
  if (words.options.streams() && words.options.compression) {
    throw CLI::ValidationError("--compress", "cannot compress a stream; use a pipe: | zstd");
  }
  if (words.options.streams()) {
    if (words.options.symbols == SymbolChoice::kAll) {
      throw CLI::ValidationError("--symbols", "cannot be used with -o -; record to a folder");
    }
    words.options.symbols = SymbolChoice::kNone;
  }
  if (words.options.streams() && words.options.schedule.keep) {
    throw CLI::ValidationError("--keep", "cannot be used with -o -");
  }
  source.rearm = words.options.numbered() || !words.options.script.control.empty();
  choose_targets(words);
  if (!source.cpus.empty() && source.cpus.size() < source.targets.size()) {
    throw CLI::ValidationError("--cpu",
                               fmt::format("{} targets need as many CPUs, but the list has {}",
                                           source.targets.size(), source.cpus.size()));
  }
}

}  // namespace

Action declare_record(CLI::App& app, Signals& signals) {
  const auto words = std::make_shared<RecordWords>();
  RecordOptions& options = words->options;
  declare_targets(app, words->targets);
  app.add_option_function<std::string>(
         "--cpu-target",
         [&options](const std::string& text) {
           options.located_cpus = cpus_of_option("--cpu-target", text);
         },
         "Trace the cores of these CPUs, and run PROGRAM there")
      ->type_name("LIST");
  declare_carriers(app, words);
  declare_triggers(app, options);
  declare_schedule(app, options);
  declare_script_options(app, options.script, "enable, disable, snapshot, stop, ping");
  app.option_defaults()->group(kOutputGroup);
  app.add_option("-o,--output", options.folder, "Folder of the recording, or - for a stream [.]")
      ->check(not_empty("folder"))
      ->type_name("DIR")
      ->default_str(".");
  app.option_defaults()->group(kRingGroup);
  app.add_option_function<std::string>(
         "-m", [&options](const std::string& text) { options.source.sizes = parse_rings(text); },
         "Ring sizes of each target, powers of two [1M,8M]")
      ->type_name("DATA[,AUX]");
  app.option_defaults()->group(kOutputGroup);
  app.add_option_function<std::string>(
         "--compress",
         [&options](const std::string& text) { options.compression = parse_level(text); },
         "Compress traces with zstd, level 1 to 19 [1]")
      ->type_name("LEVEL")
      ->expected(0, 1);
  app.add_flag_callback(
      "--force", [&options] { options.existing = Existing::kReplace; },
      "Replace the recording in the folder");
  declare_file_mode(app);
  app.option_defaults()->group(kRingGroup);
  app.add_flag("--unsafe-driver", options.source.allow_first_driver,
               "Allow a driver that can overwrite kernel memory");
  app.option_defaults()->group(kOutputGroup);
  app.add_flag_callback(
      "--symbols", [&options] { options.symbols = SymbolChoice::kAll; },
      "Save more names: maps of all processes, pages of data");
  app.add_flag_callback(
      "--no-symbols", [&options] { options.symbols = SymbolChoice::kNone; },
      "Save no names of kernel code and program code");
  declare_user(app, options.user);
  app.add_flag("--strict", options.strict, "Exit with status 1, not 3, if trace was lost");
  app.add_option("workload", options.workload, "Program to run, with its arguments")
      ->type_name("-- PROGRAM");
  app.positionals_at_end();
  set_common_options(app, {"--chip", "--core", "--type", "--duration", "--output"});
  app.footer(
      "Examples:\n"
      "  htmtrace record -o DIR -- PROGRAM\n"
      "  htmtrace record --chip 0 --core 4 -o DIR -- PROGRAM");
  app.parse_complete_callback([words] { complete(*words); });
  return [words, &signals] {
    const RecordOptions& chosen = words->options;
    return run_recorder(chosen.script, chosen.streams() ? "" : chosen.folder, signals,
                        [&](ReadyNotice& ready) { return record(chosen, signals, ready); });
  };
}

}  // namespace htmtrace
