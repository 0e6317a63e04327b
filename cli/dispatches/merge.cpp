// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "cli/commands.h"
#include "cli/dispatches/import.h"
#include "cli/dispatches/verdict.h"
#include "cli/help.h"
#include "cli/messages.h"
#include "cli/not_empty.h"
#include "core/base/budget.h"
#include "core/base/error.h"
#include "core/dispatch_log/preemptors.h"
#include "core/dispatch_log/processor_runs.h"
#include "output/io/text_output.h"
#include "output/recording/dispatches.h"
#include "output/report/dtl_preemptors.h"

namespace htmtrace {
namespace {

InputFile open_for_merge(const std::filesystem::path& path, const std::string& name) {
  InputFile file = InputFile::open(path);
  if (file.regular()) return file;
  throw Error(fmt::format("cannot merge {}: it is not a regular file", name))
      .hint("copy it to a file first");
}

std::string partition_name_of(const DtlReader& reader, const std::string& file) {
  const std::string number = reader.start_value("partition");
  const bool known = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
  return known ? "partition " + number : file;
}

// Throws Error if the clock of the entries that were just read is unknown.
void check_clock(const DtlReader& reader, const std::string& name) {
  if (reader.clock().ticks_per_second != 0) return;
  throw Error(fmt::format("cannot merge {}: its entries have no clock", name))
      .hint("use an undamaged recording of htmtrace dtl or perf record");
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
      budget.add_input(InputFile::open(replay_.input).size_bytes().value_or(0));
      add_runs(runs, replay_.input, replay_.name, 0);
      for (const std::string& file : replay_.merged) add_other(runs, budget, file);
    } catch (const Error&) {
      if (!budget.exceeded()) throw;
      throw Error("cannot merge the recordings: their dispatches take too much memory")
          .on(fmt::format("limit: {} MiB, and {} bytes for each byte of the files",
                          MemoryBudget::kBaseBytes >> 20, MemoryBudget::kBytesPerByte))
          .hint("choose a shorter time with --from and --to");
    }
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
    clock_ = reader.clock();
    names_ = {partition_name_of(reader, replay_.name)};
  }

  // Adds all entries of a file. If `partition` is empty, the file names the partition. Returns the
  // times of the file's first and last dispatch.
  DtlWindow add_runs(ProcessorRuns& runs, const std::filesystem::path& path,
                     const std::string& name, std::optional<size_t> partition) {
    DtlReader reader(open_for_merge(path, name));
    DtlWindow times{.begin = UINT64_MAX, .end = 0};
    while (const auto block = reader.next({})) {
      check_clock(reader, name);
      if (reader.clock().ticks_per_second != clock_.ticks_per_second) {
        throw Error(
            fmt::format("cannot merge {} with {}: their timebases differ", name, replay_.name))
            .on(fmt::format("ticks per second: {} and {}", reader.clock().ticks_per_second,
                            clock_.ticks_per_second))
            .hint("merge recordings of the same machine only");
      }
      if (!partition) partition = number_of(partition_name_of(reader, name));
      runs.add({*partition, block->cpu}, block->entries);
      for (const DtlEntry& entry : block->entries) {
        times.begin = std::min(times.begin, entry.timebase);
        times.end = std::max(times.end, entry.timebase);
      }
    }
    runs.end_recording();
    // divide() reads the input again, and reports its defects.
    if (path != replay_.input) {
      if (reader.end() && reader.end()->status != kExitDone) {
        print_warning(name +
                      ": entries were lost during the recording, so the times are less exact");
      }
      status_ = std::max(status_, replay_status(reader, warn_of_defects(reader, name)));
    }
    return times;
  }

  void add_other(ProcessorRuns& runs, MemoryBudget& budget, const std::string& file) {
    check_is_another(file);
    const DtlInput input(file);
    budget.add_input(InputFile::open(input.recording()).size_bytes().value_or(0));
    const DtlWindow times = add_runs(runs, input.recording(), file, std::nullopt);
    if (times.begin <= window_.end && times.end >= window_.begin) return;
    if (times.begin > times.end) throw Error(fmt::format("cannot merge {}: it is empty", file));
    throw Error(
        fmt::format("cannot merge {} with {}: their times do not overlap", file, replay_.name))
        .on(fmt::format("timebase of {}: {} to {}", file, times.begin, times.end))
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
    DtlPreemptors waits(runs, options_.top, work);
    uint64_t read = 0;
    while (const auto block = reader.next(wanted_)) {
      waits.add(block->cpu, block->entries);
      read += block->entries.size();
    }
    const DtlPreemptorTable table{
        .clock = clock_, .waits = &waits, .names = names_, .top = options_.top};
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
  DtlClock clock_;
  DtlWindow window_;
  std::vector<std::string> names_;  // of the partitions; the first partition is the one that waited
  std::vector<std::string> seen_;   // the files so far
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
  for (const char* option : {"--summary", "--interval", "--check", "--tasks", "--metrics", "-o"}) {
    if (app.get_option(option)->count() == 0) continue;
    throw CLI::ValidationError(option, "cannot be used with --merge");
  }
}

int merge_dtl(const DtlReplay& replay, const DtlOutputOptions& options) {
  return Merging(replay, options).run();
}

}  // namespace htmtrace
