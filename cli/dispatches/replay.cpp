// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "cli/commands.h"
#include "cli/dispatches/metrics.h"
#include "cli/dispatches/verdict.h"
#include "cli/messages.h"
#include "core/base/budget.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "output/export/dtl_perf_data.h"
#include "output/export/dtl_timeline.h"
#include "output/io/trace_sink.h"
#include "output/recording/dispatches.h"
#include "output/recording/host_facts.h"

namespace htmtrace {
namespace {

// Returns true if kernel release and machine of the recording are those of this system.
bool is_of_here(const DtlReader& reader) {
  const HostFacts host = read_host_facts();
  return reader.start_value("kernel") == host.kernel_release &&
         reader.start_value("machine") == host.machine;
}

bool tells_tasks(const DtlReader& reader) {
  return !reader.start_value("tasks").empty();
}

void check_tasks(const DtlReader& reader, const std::string& name) {
  if (tells_tasks(reader)) return;
  throw Error("cannot show tasks: the recording has no task switches")
      .on("file: " + name)
      .hint("record it with: htmtrace dtl --tasks -o FILE, or perf record --switch-events");
}

DtlReader::Wanted wanted_of(const DtlReplay& replay) {
  return {.cpus = replay.cpus, .from_ns = replay.from_ns, .to_ns = replay.to_ns};
}

DtlPerfData::About about_of(const DtlReader& reader) {
  DtlPerfData::About about{.event = reader.start_value("event"),
                           .period_ns = 0,
                           .clock = reader.clock(),
                           .kernel = reader.start_value("kernel")};
  if (about.event.empty()) about.event = "all";
  const std::string period = reader.start_value("period_ns");
  std::from_chars(period.data(), period.data() + period.size(), about.period_ns);
  return about;
}

DtlMetrics::About metrics_about_of(const DtlReader& reader) {
  const auto value = [&](std::string_view name) { return reader.start_value(name); };
  return {.version = value("htmtrace"),
          .partition = value("partition"),
          .kernel = value("kernel"),
          .driver = value("driver"),
          .event = value("event")};
}

// The export reads the input twice.
InputFile open_for_export(const DtlReplay& replay, const char* format) {
  InputFile file = InputFile::open(replay.input);
  if (file.regular()) return file;
  throw Error(
      fmt::format("cannot write {} as {}: the input is not a regular file", replay.name, format))
      .hint("copy it to a file first");
}

// Throws Error if the export could not be written; it has then left no file. Returns its size.
uint64_t finish_export(TraceSink& sink) {
  sink.finish();
  if (!sink.error()) return sink.written_bytes();
  throw Error("cannot write " + sink.path().string(), *sink.error())
      .hint("free some disk space, or choose another folder with -o; no partial file is left");
}

void take_memory(MemoryBudget& budget, uint64_t bytes, const std::string& name) {
  try {
    budget.take(bytes);
  } catch (const Error& error) {
    throw error.about("cannot read " + name);
  }
}

// Limits the memory of the switches of all CPUs together. A CPU that has no dispatches for a long
// time keeps its switches until then.
class SwitchMemory {
 public:
  explicit SwitchMemory(uint64_t file_bytes)
      : most_((MemoryBudget::kBaseBytes / 2 + file_bytes) / sizeof(DtlSwitch)) {}

  void append(DtlTaskTrack& track, const DtlSwitches& part) {
    const Use use(*this, track);
    track.append(part);
    if (count_ - use.before() + track.capacity() > most_) track.release();
  }

  // Counts the change of a track's capacity.
  class Use {
   public:
    Use(SwitchMemory& memory, const DtlTaskTrack& track)
        : memory_(memory), track_(track), before_(track.capacity()) {}
    ~Use() { memory_.count_ += track_.capacity() - before_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    size_t before() const { return before_; }

   private:
    SwitchMemory& memory_;
    const DtlTaskTrack& track_;
    size_t before_;
  };

 private:
  size_t most_;
  size_t count_ = 0;
};

}  // namespace

bool tells_tasks(const std::filesystem::path& recording) {
  DtlReader reader(InputFile::open(recording));
  reader.next({});
  return tells_tasks(reader);
}

int replay_dtl(const DtlReplay& replay, const DtlOutputOptions& options, TextOutput text) {
  DtlStatisticsUse statistics = DtlStatisticsUse::kNone;
  // Metrics need the waits by reason, which the statistics of a file do not have.
  if ((options.summary || options.intervals) && !options.tasks && replay.metrics.empty()) {
    statistics = replay.check ? DtlStatisticsUse::kCheck : DtlStatisticsUse::kTrust;
  }
  DtlReader reader(InputFile::open(replay.input), statistics);
  DtlOutput output(options, "", std::move(text));
  std::map<int, DtlOutput::Track> tracks;
  DtlOutput::Sums sums(options);
  DtlReplayMetrics metrics(options.bits);
  MemoryBudget budget(reader.size_bytes().value_or(0));
  SwitchMemory switches(reader.size_bytes().value_or(0));
  uint64_t taken = 0;
  DtlReader::Wanted wanted = wanted_of(replay);
  wanted.intervals = options.intervals;
  wanted.tasks = options.tasks;
  const bool needs_times = wanted.from_ns || wanted.to_ns || wanted.intervals;
  uint64_t untimed = 0;
  bool reader_gone = false;
  while (const auto block = reader.next(wanted)) {
    if (options.tasks) check_tasks(reader, replay.name);
    if (!block->names.empty()) {
      output.with_names([&](DtlTaskNames& names) { names.set_lines(block->names); });
      continue;
    }
    const auto [place, added] = tracks.try_emplace(block->cpu, block->cpu);
    if (added) {
      take_memory(budget, sizeof(DtlOutput::Track), replay.name);
      if (!replay.metrics.empty()) take_memory(budget, DtlCpuMetrics::kBytes, replay.name);
    }
    DtlOutput::Track& track = place->second;
    if (block->switches != nullptr) {
      switches.append(track.tasks(), *block->switches);
      continue;
    }
    const SwitchMemory::Use use(switches, track.tasks());
    if (needs_times && reader.clock().ticks_per_second == 0) {
      untimed +=
          block->statistics != nullptr ? block->statistics->entries() : block->entries.size();
      continue;
    }
    if (block->statistics != nullptr) {
      output.take(track, reader.clock(), *block->statistics, sums);
      taken += block->statistics->entries();
    } else {
      if (!replay.metrics.empty()) metrics.add(block->cpu, block->entries, reader.clock());
      output.take(track, reader.clock(), block->entries, sums, block->columns);
      taken += block->entries.size();
    }
    reader_gone = output.useless();
    if (reader_gone) break;
  }
  if (!is_of_here(reader)) output.set_foreign();
  std::vector<DtlOutput::Track*> all;
  all.reserve(tracks.size());
  for (auto& [cpu, track] : tracks) all.push_back(&track);
  output.finish(all, sums, {});
  // The reader has closed the output, so the rest of the recording was not read: there is no
  // verdict.
  if (reader_gone) return kExitDone;
  if (!replay.metrics.empty()) {
    DtlHistogramLimit limit;
    write_metrics(replay.metrics, metrics.metrics(metrics_about_of(reader)), limit);
    warn_of_limit(replay.metrics, limit);
  }
  if (untimed != 0) {
    print_warning(
        fmt::format("{}: skipped {} without a known time; --from, --to and --interval need it",
                    replay.name, counted(untimed, "entry")));
  } else if (reader.clock().ticks_per_second == 0) {
    print_warning(fmt::format("{}: the recording has no clock; times are unknown", replay.name));
  }
  bool incomplete = warn_of_defects(reader, replay.name) || untimed != 0;
  for (const Loss& loss : output.losses(all)) {
    print_warning(
        fmt::format("{}: missing: {}: {}", loss.place, counted(loss.amount, "entry"), loss.cause));
    incomplete = true;
  }
  if (!replay.quiet) print_verdict(reader, taken);
  return replay_status(reader, incomplete);
}

// Checks that all entries fit before it writes any.
int export_timeline(const DtlReplay& replay, const std::filesystem::path& path, Existing existing) {
  const DtlReader::Wanted wanted = wanted_of(replay);
  std::string text;
  uint64_t bytes = 0;
  DtlReader first(open_for_export(replay, "perfetto"));
  DtlTimeline measured(DtlClock{});
  for (uint64_t entries = 0; const auto block = first.next(wanted);) {
    if (bytes == 0) measured = DtlTimeline(first.clock());
    measured.add(block->cpu, block->entries, text);
    bytes += text.size();
    text.clear();
    entries += block->entries.size();
    if (bytes > DtlTimeline::kMostBytes) {
      throw Error(fmt::format("the timeline would be larger than 1 GB after {} entries", entries))
          .on("file: " + replay.name)
          .hint("choose a part of the time with --from and --to, or some CPUs with --cpu");
    }
  }
  if (first.clock().ticks_per_second == 0) {
    throw Error("cannot write a timeline: the recording has no clock")
        .on("file: " + replay.name)
        .hint("print the entries: --format text");
  }
  DtlReader reader(open_for_export(replay, "perfetto"));
  TraceSink file = TraceSink::create(path, existing);
  DtlTimeline form(first.clock());
  uint64_t taken = 0;
  const auto write = [&] {
    file.append(std::as_bytes(std::span(text)));
    text.clear();
    return !file.error();
  };
  while (const auto block = reader.next(wanted)) {
    form.add(block->cpu, block->entries, text);
    taken += block->entries.size();
    if (!write()) break;
  }
  form.end(text);
  write();
  const uint64_t written_bytes = finish_export(file);
  if (form.left_out() != 0) {
    print_warning(fmt::format("skipped {} older than the preceding entry of the same CPU",
                              counted(form.left_out(), "entry")));
  }
  const bool incomplete = warn_of_defects(reader, replay.name);
  print_note(fmt::format("{} of {} to {}, {}", taken - form.left_out(),
                         counted(reader.entries(), "entry"), path.string(),
                         counted(written_bytes, "byte")));
  return replay_status(reader, incomplete || form.left_out() != 0);
}

// The file begins with sizes, so the export reads the recording twice.
int export_dtl(const DtlReplay& replay, const std::filesystem::path& path, Existing existing) {
  DtlPerfData form;
  DtlReader first(open_for_export(replay, "perf"));
  const DtlReader::Wanted wanted = wanted_of(replay);
  while (const auto block = first.next(wanted)) form.announce(block->cpu, block->entries);
  if (first.clock().ticks_per_second == 0) {
    throw Error("cannot write perf.data: the recording has no clock")
        .on("file: " + replay.name)
        .hint("print the entries: --format text");
  }
  DtlReader reader(open_for_export(replay, "perf"));
  TraceSink file = TraceSink::create(path, existing);
  std::vector<std::byte> bytes;
  const auto write = [&] {
    file.append(bytes);
    bytes.clear();
    return !file.error();
  };
  form.begin(about_of(first), bytes);
  write();
  uint64_t taken = 0;
  while (const auto block = reader.next(wanted)) {
    form.add(block->cpu, block->entries, bytes);
    taken += block->entries.size();
    if (!write()) break;
  }
  form.end(bytes);
  write();
  const uint64_t written_bytes = finish_export(file);
  if (form.strange_reasons() != 0) {
    print_warning(
        fmt::format("perf shows wrong reasons for {}: it has no names for the true reasons",
                    counted(form.strange_reasons(), "entry")));
  }
  const bool incomplete = warn_of_defects(reader, replay.name);
  print_note(fmt::format("{} of {} to {}, {}", taken, counted(reader.entries(), "entry"),
                         path.string(), counted(written_bytes, "byte")));
  return replay_status(reader, incomplete);
}

}  // namespace htmtrace
