// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "cli/commands.h"
#include "cli/dispatches/import.h"
#include "cli/dispatches/part.h"
#include "cli/dispatches/verdict.h"
#include "cli/help.h"
#include "cli/messages.h"
#include "cli/not_empty.h"
#include "core/base/budget.h"
#include "core/base/error.h"
#include "core/dispatch_log/analysis.h"
#include "core/dispatch_log/preemptors.h"
#include "core/dispatch_log/processor_runs.h"
#include "output/io/text_output.h"
#include "output/recording/dispatches.h"
#include "output/report/dtl_preemptors.h"

namespace htmtrace {
namespace {

Error not_regular(const std::string& name) {
  return Error(fmt::format("cannot merge {}: it is not a regular file", name))
      .hint("copy it to a file first");
}

// Opening a FIFO would wait for its writer.
void check_regular(const std::string& name) {
  std::error_code failure;
  const auto status = std::filesystem::status(name, failure);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return;
  throw not_regular(name);
}

InputFile open_for_merge(const std::filesystem::path& path, const std::string& name) {
  InputFile file = InputFile::open(path);
  if (file.regular()) return file;
  throw not_regular(name);
}

std::optional<unsigned> hour_of(const DtlReader& reader, uint64_t timebase) {
  const auto ns = reader.realtime_ns(timebase);
  if (!ns) return std::nullopt;
  constexpr uint64_t kNsPerHour = 3'600'000'000'000;
  return static_cast<unsigned>(*ns / kNsPerHour % DtlUnknownTime::kHours);
}

class Merging {
 public:
  Merging(const DtlReplay& replay, const DtlOutputOptions& options)
      : replay_(replay),
        options_(options),
        wanted_{.cpus = replay.cpus, .from_ns = replay.from_ns, .to_ns = replay.to_ns} {}

  int run() {
    find_window();
    MemoryBudget budget;
    ProcessorRuns runs(window_, budget);
    try {
      const std::vector<Source> sources = find_sources();
      for (const Source& source : sources) {
        budget.add_input(InputFile::open(source.path).size_bytes().value_or(0));
        add_runs(runs, source);
      }
    } catch (const Error&) {
      if (!budget.exceeded()) throw;
      throw Error("cannot merge the recordings: their dispatches take too much memory")
          .on(fmt::format("limit: {} MiB, and {} bytes for each byte of the files",
                          MemoryBudget::kBaseBytes >> 20, MemoryBudget::kBytesPerByte))
          .hint("choose a shorter time with --from and --to");
    }
    check_overlaps();
    runs.finish();
    return divide(runs);
  }

 private:
  // Finds the time from the first wait to the last dispatch of the selected entries.
  void find_window() {
    DtlReader reader(open_for_merge(replay_.input, replay_.name));
    window_ = {.begin = UINT64_MAX, .end = 0};
    while (const auto block = reader.next(wanted_)) {
      check_clock(reader, replay_.name);
      selected_ += block->entries.size();
      for (const DtlEntry& entry : block->entries) {
        const uint64_t stolen = uint64_t{entry.enqueue_to_dispatch} + entry.ready_to_enqueue;
        window_.begin = std::min(window_.begin, entry.timebase - std::min(entry.timebase, stolen));
        window_.end = std::max(window_.end, entry.timebase);
      }
    }
    if (window_.begin > window_.end) {
      throw Error(fmt::format("cannot merge {}: it has no selected entries", replay_.name))
          .hint("check --cpu, --from and --to");
    }
    names_ = {partition_name_of(reader, replay_.name)};
  }

  // Throws Error if the clock of the entries that were just read is unknown, or if its frequency
  // differs from the frequency of the first clock.
  void check_clock(const DtlReader& reader, const std::string& name) {
    const uint64_t frequency = reader.clock().ticks_per_second;
    if (frequency == 0) {
      throw Error(fmt::format("cannot merge {}: its entries have no clock", name))
          .hint("use an undamaged recording of htmtrace dtl or perf record");
    }
    if (frequency_ == 0) frequency_ = frequency;
    if (frequency == frequency_) return;
    const auto both = fmt::format("ticks per second: {} and {}", frequency, frequency_);
    if (name == replay_.name) {
      throw Error(fmt::format("cannot merge {}: its timebase changes", name))
          .on(both)
          .hint("use a recording of htmtrace dtl or perf record");
    }
    throw Error(fmt::format("cannot merge {} with {}: their timebases differ", name, replay_.name))
        .on(both)
        .hint("merge recordings of the same machine only");
  }

  // The times of a partition's files.
  struct Times {
    std::string file;                  // the first one
    std::vector<DtlWindow> stretches;  // without a gap, in time order
  };

  // A file of a partition. Several files of a partition are parts of one recording.
  struct Source {
    std::filesystem::path path;
    std::string name;
    uint64_t begin = 0;  // the first dispatch
    size_t partition = 0;
    DtlPart part;
  };

  // All files with dispatches, in the order of their times, so that a run can continue in the next
  // part.
  std::vector<Source> find_sources() {
    std::vector<Source> sources;
    const auto add = [&](const std::filesystem::path& path, const std::string& name) {
      DtlReader reader(open_for_merge(path, name));
      uint64_t begin = UINT64_MAX;
      while (const auto block = reader.next({})) {
        for (const DtlEntry& entry : block->entries) begin = std::min(begin, entry.timebase);
      }
      const DtlPart part = dtl_part_of(reader);
      if (begin == UINT64_MAX) {
        parts_.add_silent(part);
        return print_warning(name + ": this file has no dispatches");
      }
      sources.push_back({path, name, begin, number_of(partition_name_of(reader, name)), part});
    };
    add(replay_.input, replay_.name);
    for (const std::string& file : replay_.merged) {
      check_regular(file);
      check_is_another(file);
      add(inputs_.emplace_back(file).recording(), file);
    }
    std::ranges::stable_sort(sources, {}, &Source::begin);
    times_.resize(names_.size());
    return sources;
  }

  void add_runs(ProcessorRuns& runs, const Source& source) {
    DtlReader reader(open_for_merge(source.path, source.name));
    Times& times = times_[source.partition];
    if (begins_stretch(runs, source, times)) {
      times.stretches.push_back({.begin = UINT64_MAX, .end = 0});
    }
    DtlWindow& window = times.stretches.back();
    std::set<int> seen;
    while (const auto block = reader.next({})) {
      if (block->entries.empty()) continue;
      check_clock(reader, source.name);
      const DtlOwner owner{source.partition, block->cpu};
      Last& last = last_[owner];
      const uint64_t first = block->entries.front().timebase;
      if (seen.insert(block->cpu).second && last.file != nullptr && first < last.timebase) {
        throw_overlap(source.name, *last.file, owner);
      }
      last = {.timebase = std::max(last.timebase, block->entries.back().timebase),
              .file = &source.name};
      runs.add(owner, block->entries);
      for (const DtlEntry& entry : block->entries) {
        window.begin = std::min(window.begin, entry.timebase);
        window.end = std::max(window.end, entry.timebase);
      }
    }
    if (times.file.empty()) times.file = source.name;
    // divide() reads the input again, and reports its defects.
    if (source.path == replay_.input) return;
    if (reader.end() && reader.end()->status != kExitDone) {
      print_warning(
          source.name +
          ": entries were lost during the recording, so times can be too long or too short");
    }
    status_ = std::max(status_, replay_status(reader, warn_of_defects(reader, source.name)));
  }

  // Returns true for the first file of a partition and after a gap. At a gap, prints a warning and
  // ends the runs of the partition.
  bool begins_stretch(ProcessorRuns& runs, const Source& source, const Times& times) {
    const bool first = times.stretches.empty();
    const uint64_t end = first ? window_.begin : times.stretches.back().end;
    const uint64_t between = source.begin > end ? source.begin - end : 0;
    const std::string reason = parts_.next(source.part, !first && between >= frequency_);
    if (reason.empty() || (first && between == 0)) return first;
    runs.end_partition(source.partition);
    print_warning(
        fmt::format("{}: {}; htmtrace does not know which processors {} used in the {:.3f} s "
                    "before this file",
                    source.name, reason, names_[source.partition],
                    static_cast<double>(between) / static_cast<double>(frequency_)));
    return true;
  }

  [[noreturn]] void throw_overlap(const std::string& name, const std::string& earlier,
                                  const DtlOwner& owner) const {
    throw Error(fmt::format("cannot merge {} with {}: their times overlap", name, earlier))
        .on(fmt::format("both have dispatches of CPU {} of {}", owner.cpu, names_[owner.partition]))
        .hint("pass each recording only once; the files of a partition must not overlap");
  }

  // Throws Error for another partition whose dispatches do not overlap the selected waits. Warns if
  // they begin more than a second later or end more than a second earlier.
  void check_overlaps() const {
    for (size_t partition = 1; partition < times_.size(); partition++) {
      const std::vector<DtlWindow>& stretches = times_[partition].stretches;
      const bool overlap = std::ranges::any_of(stretches, [&](const DtlWindow& each) {
        return each.begin <= window_.end && each.end >= window_.begin;
      });
      if (!overlap) throw_apart(times_[partition]);
      if (stretches.front().begin > window_.begin + frequency_ ||
          stretches.back().end + frequency_ < window_.end) {
        print_warning(fmt::format(
            "{}: the merged files of {} cover only a part of the time of the selected waits; "
            "htmtrace does not know which processors the partition used in the rest of this time",
            times_[partition].file, names_[partition]));
      }
    }
  }

  [[noreturn]] void throw_apart(const Times& times) const {
    Error error(fmt::format("cannot merge {} with {}: their times do not overlap", times.file,
                            replay_.name));
    constexpr size_t kMostLines = 4;
    for (const DtlWindow& each :
         std::span(times.stretches).first(std::min(times.stretches.size(), kMostLines))) {
      error = std::move(error).on(
          fmt::format("timebase of {}: {} to {}", times.file, each.begin, each.end));
    }
    throw std::move(error)
        .on(fmt::format("timebase of {}: {} to {}", replay_.name, window_.begin, window_.end))
        .hint("record all partitions of the machine at the same time");
  }

  // Throws Error if a file is merged twice: its dispatches would overlap themselves.
  void check_is_another(const std::string& file) {
    std::error_code failure;
    seen_.push_back(replay_.name);
    for (const std::string& earlier : seen_) {
      if (!std::filesystem::equivalent(earlier, file, failure)) continue;
      throw Error(fmt::format("cannot merge {} twice", file))
          .hint("name the recordings of other partitions with --merge");
    }
    seen_.back() = file;
  }

  // Returns "partition NUMBER", or "file NAME" if the recording does not have the number: a file
  // name never equals the name of another partition. The files of --rotate have one name.
  std::string partition_name_of(const DtlReader& reader, const std::string& file) {
    constexpr size_t kMostDigits = 10;  // of 32 bits
    const std::string number = reader.start_value("partition");
    const bool known = !number.empty() && number.size() <= kMostDigits &&
                       number.find_first_not_of("0123456789") == std::string::npos;
    if (known) return "partition " + number;
    const std::string recording = reader.start_value("recording");
    if (recording.empty()) return "file " + file;
    return names_of_recordings_.try_emplace(recording, "file " + file).first->second;
  }

  // Returns the index of the name. Files with the same name belong to one partition.
  size_t number_of(const std::string& name) {
    const auto found = std::ranges::find(names_, name);
    if (found != names_.end()) return static_cast<size_t>(found - names_.begin());
    names_.push_back(name);
    return names_.size() - 1;
  }

  int divide(const ProcessorRuns& runs) {
    DtlReader reader(open_for_merge(replay_.input, replay_.name));
    WorkBudget work;
    work.add_input(reader.size_bytes().value_or(0));
    for (const std::string& file : replay_.merged) {
      std::error_code failure;
      const uintmax_t bytes = std::filesystem::file_size(file, failure);
      if (!failure) work.add_input(bytes);
    }
    DtlPreemptors waits(
        runs, {.top = options_.top, .window_ticks = frequency_ / DtlAnalysis::kWindowsPerSecond},
        work);
    uint64_t read = 0;
    // A recorder may have written more entries since find_window().
    while (const auto block = reader.next(wanted_)) {
      const auto entries = block->entries.first(std::min(block->entries.size(), selected_ - read));
      for (const DtlEntry& entry : entries) {
        waits.add(block->cpu, entry, hour_of(reader, entry.timebase));
      }
      read += entries.size();
    }
    const DtlPreemptorTable table{
        .clock = reader.clock(), .waits = &waits, .names = names_, .top = options_.top};
    TextOutput text = TextOutput::standard_output();
    text.put_large(table.to_text(options_.format));
    text.finish();
    const bool incomplete = warn_of_defects(reader, replay_.name);
    print_verdict(reader, read);
    return std::max(status_, replay_status(reader, incomplete));
  }

  const DtlReplay& replay_;
  const DtlOutputOptions& options_;
  DtlReader::Wanted wanted_;
  DtlWindow window_;
  uint64_t selected_ = 0;           // entries of the input
  uint64_t frequency_ = 0;          // ticks per second
  std::vector<std::string> names_;  // of the partitions; the first partition is the one that waited
  std::map<std::string, std::string> names_of_recordings_;
  std::vector<std::string> seen_;  // the files so far
  std::vector<Times> times_;       // of each partition
  DtlParts parts_;
  struct Last {
    uint64_t timebase = 0;
    const std::string* file = nullptr;
  };
  std::map<DtlOwner, Last> last_;  // the last dispatch so far
  std::deque<DtlInput> inputs_;    // of the merged files
  int status_ = kExitDone;
};

}  // namespace

void declare_dtl_merge(CLI::App& app, std::vector<std::string>& files) {
  app.option_defaults()->group(kReportGroup);
  app.add_option("--merge", files, "Show who ran during the waits: another partition's file")
      ->check(not_empty("file"))
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void check_dtl_merge(const CLI::App& app, const DtlReplay& replay) {
  if (replay.merged.empty()) return;
  if (replay.input.empty()) throw CLI::ValidationError("--merge", "requires --input");
  for (const char* option : {"--summary", "--interval", "--check", "--tasks", "--metrics", "-o",
                             "--mode", "--kallsyms", "--processor-bits"}) {
    if (app.get_option(option)->count() == 0) continue;
    throw CLI::ValidationError(option, "cannot be used with --merge");
  }
}

void check_merge_input(const DtlReplay& replay) {
  if (!replay.merged.empty()) check_regular(replay.input.string());
}

int merge_dtl(const DtlReplay& replay, const DtlOutputOptions& options) {
  return Merging(replay, options).run();
}

}  // namespace htmtrace
