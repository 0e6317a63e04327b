// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the dispatch trace logs in a perf.data file that perf recorded with events of the PMU
// vpa_dtl. The result lists the pieces of the AUX areas and the statements of the records.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_extent.h"
#include "core/dispatch_log/slots.h"
#include "core/dispatch_log/task_names.h"
#include "core/dispatch_log/tasks.h"
#include "core/perf_data/file.h"

namespace htmtrace {

// The statements of the records about one CPU.
struct DtlPerfCpu {
  DtlTotals totals{};      // of deliveries, without their contents
  uint64_t delivered = 0;  // running position in the AUX area, in bytes
  bool truncated = false;  // the AUX area was full, and the kernel disabled the event
};

struct DtlPerfChunk {
  int cpu = 0;
  uint64_t position = 0;  // running position in the AUX area
  FileExtent at;
};

struct DtlPerfContent {
  bool big_endian = false;  // byte order of the recorded machine
  std::string kernel;       // its release; empty: not reported
  std::string event;        // cede, preempt, fault or all
  uint64_t period_ns = 0;   // the driver's actual period
  // The size of a CPU's AUX area, known after a wrap.
  uint64_t area_bytes = DtlSlots::kUnending;
  std::vector<DtlPerfChunk> chunks;  // in file order
  std::map<int, DtlPerfCpu> cpus;
  // For each CPU in time order, from time 0 on; empty if not recorded.
  std::map<int, std::vector<DtlSwitch>> switches;
  DtlTaskNames names;
  // Losses without a specific CPU.
  std::vector<Loss> losses;
};

// Reads everything except the entries. Uses constant memory plus the result, which takes 16 bytes
// for each switch. Accepts any bytes. Throws Error unless the bytes are a perf.data file with such
// events; reports damage as losses.
DtlPerfContent find_dispatches(uint64_t file_bytes, const ReadAt& read);

// The perf.data file has such events and no htm events, as far as the data before the first AUX
// data shows. Throws Error if the file is not a readable perf.data file.
bool has_only_dispatches(uint64_t file_bytes, const ReadAt& read);

}  // namespace htmtrace
