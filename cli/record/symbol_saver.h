// SPDX-License-Identifier: GPL-2.0-or-later
// Saves the names of addresses, and chooses the times at which it reads the memory of processes.
//
// By default, the recorder works only after the trace has ended: it copies the kernel's names, and
// lists the code that perf saw the workload map. `--symbols` also walks over all processes, which
// needs capabilities and time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "cli/record/workload_watch.h"
#include "core/base/fd.h"
#include "output/io/input_file.h"
#include "output/io/trace_sink.h"
#include "output/recording/process_pages.h"
#include "output/recording/symbol_files.h"

namespace htmtrace {

enum class SymbolChoice : uint8_t {
  kNone,
  kCheap,  // the default: every failure is a warning
  kAll,    // --symbols: also the maps of all processes, and the pages of the workload
};

// The files of /proc through which the kernel shows addresses to a process that was privileged
// when it opened them.
struct SymbolSources {
  // Throws Error only for kAll.
  explicit SymbolSources(SymbolChoice choice);

  std::optional<InputFile> kallsyms;
  Fd pagemap;  // of this process
};

class SymbolSaver {
 public:
  using Clock = std::chrono::steady_clock;

  // With kAll, creates the files in `folder`, and with a `workload` also saves the pages of this
  // process and its descendants: bus addresses, and data addresses in a core trace, get names only
  // from the pages. `sources` outlives this object. Throws Error.
  SymbolSaver(std::filesystem::path folder, Existing existing, SymbolChoice choice,
              SymbolSources& sources, std::optional<pid_t> workload);

  // The files appear. Throws Error.
  void publish();
  // The first trace has begun, and the workload runs.
  void begin();
  // Reads the pages and the maps that are due. Call it now and then, and at next_look(). Has no
  // effect before begin(). Throws Error.
  void look();
  std::optional<Clock::time_point> next_look() const { return next_look_; }
  // Reads everything again, prints warnings, and closes the files. Call it while a running workload
  // still has its maps. `watch` is null without a workload in a core trace. Throws Error only for
  // kAll.
  void finish(const WorkloadWatch* watch);
  void discard();

 private:
  enum class State : uint8_t {
    kNotBegun,
    kPagesDue,   // the pages come first
    kMapsDue,    // the maps of all processes come next
    kMapsSaved,  // only the pages change
  };

  void read_pages();
  void report_pages() const;
  void save_all(const WorkloadWatch* watch);
  void save_cheap(const WorkloadWatch* watch);
  void save_code(const WorkloadWatch& watch, ProcessPages& pages);
  void save_kernel();

  std::filesystem::path folder_;
  Existing existing_;
  SymbolChoice choice_;
  SymbolSources& sources_;
  std::optional<SymbolFiles> files_;
  std::optional<ProcessPages> pages_;  // of the workload
  State state_ = State::kNotBegun;
  Clock::time_point begin_;
  std::optional<Clock::time_point> next_look_;  // at the pages
};

}  // namespace htmtrace
