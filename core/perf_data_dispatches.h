// SPDX-License-Identifier: GPL-2.0-or-later
// Where the dispatch trace logs are in a perf.data file that perf recorded with events of the PMU
// vpa_dtl: pieces of the AUX areas, and what the records say about them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dtl_slots.h"
#include "core/dtl_task_names.h"
#include "core/dtl_tasks.h"
#include "core/file_extent.h"
#include "core/perf_data.h"

namespace htmtrace {

// What the records say of one CPU.
struct DtlPerfCpu {
  DtlTotals totals{};      // of deliveries; not of what is in them
  uint64_t delivered = 0;  // bytes of the AUX area, running
  bool truncated =
      false;  // the kernel said that it had no room for more, and switched the event off
};

struct DtlPerfChunk {
  int cpu = 0;
  uint64_t position = 0;  // in all that went through the AUX area
  FileExtent at;
};

struct DtlPerfContent {
  bool big_endian = false;  // the machine
  std::string kernel;       // its release; empty: not told
  std::string event;        // cede, preempt, fault or all
  uint64_t period_ns = 0;   // as the driver takes it
  // Size of the AUX area of a CPU, when one of them was gone around.
  uint64_t area_bytes = DtlSlots::kUnending;
  std::vector<DtlPerfChunk> chunks;  // in the order of the file
  std::map<int, DtlPerfCpu> cpus;
  // Of each CPU in the order of time, the first at 0; empty when they were not recorded.
  std::map<int, std::vector<DtlSwitch>> switches;
  DtlTaskNames names;
  // What is known not to be there, by no CPU in particular.
  std::vector<Loss> losses;
};

// Reads all but the entries, in constant memory but for what it returns: 16 bytes for a switch. Any
// bytes will do: throws Error when they are no perf.data file with such events, and tells what is
// damaged.
DtlPerfContent find_dispatches(uint64_t file_bytes, const ReadAt& read);

// Whether a perf.data file has such events, and none of htm: by what stands before the first AUX
// data. Throws Error when it is none that can be read.
bool has_only_dispatches(uint64_t file_bytes, const ReadAt& read);

}  // namespace htmtrace
