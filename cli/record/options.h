// SPDX-License-Identifier: GPL-2.0-or-later
// The options of `htmtrace record`.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/capture/htm_source.h"
#include "cli/capture/identity.h"
#include "cli/capture/script_options.h"
#include "cli/locate/finder.h"
#include "cli/record/symbol_saver.h"
#include "core/base/target.h"
#include "output/io/trace_sink.h"

namespace htmtrace {

// The times of traces. All are optional.
struct Schedule {
  std::optional<std::chrono::nanoseconds> delay;     // workload start to trace start
  bool start_disabled = false;                       // wait for the control channel instead
  std::optional<std::chrono::nanoseconds> duration;  // of a window, or of the recording
  std::optional<uint64_t> windows;                   // number of traces
  std::optional<std::chrono::nanoseconds> every;     // between starts of windows
  std::optional<std::chrono::nanoseconds> rotate;    // length of consecutive traces
  std::optional<uint64_t> keep;                      // number of newest traces to keep

  bool delayed() const { return delay || start_disabled; }
};

struct RecordOptions {
  SourceWish source;
  std::filesystem::path folder = ".";  // "-": a stream on standard output
  Existing existing = Existing::kRefuse;
  std::optional<int> compression;  // level; empty: no compression
  Schedule schedule;
  std::optional<uint64_t> max_bytes;  // limit of the trace in all files together
  ScriptOptions script;
  bool strict = false;  // a loss is a failure
  SymbolChoice symbols = SymbolChoice::kCheap;
  bool bind = false;  // run the workload on the carrier CPUs
  // Trace the cores of these CPUs, and run the workload there. An empty list: htmtrace chooses a
  // CPU. Without a value, the command line names the targets.
  std::optional<std::vector<int>> located_cpus;
  std::vector<CpuLocation> locations;  // of located_cpus, once they are located
  std::vector<HtmType> located_types;  // the types of trace for each located core, or its chip
  std::vector<int> program_cpus;       // run the workload only there; empty: anywhere
  std::vector<std::string> workload;   // empty: no workload
  std::optional<Identity> user;        // becomes this user after the events are open

  bool streams() const { return folder == "-"; }
  // Returns true if several traces go to subfolders of `folder`.
  bool numbered() const { return schedule.windows || schedule.rotate || source.wrap; }
};

}  // namespace htmtrace
