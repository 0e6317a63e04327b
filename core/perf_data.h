// SPDX-License-Identifier: GPL-2.0-or-later
// Where the traces of htm events are in a perf.data file, as the perf tool of the htm series
// records it: trace bytes as AUX data, the memory map as raw samples or (the first public driver)
// behind the trace. Layouts: tools/perf/Documentation/perf.data-file-format.txt and enum
// perf_event_type of Linux. Files of either byte order are read on any machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/file_extent.h"
#include "core/trace_target.h"

namespace htmtrace {

struct PerfDataTrace {
  TraceTarget target;
  std::vector<FileExtent> trace;     // in the order of the trace
  std::vector<FileExtent> map;       // blocks of the memory map, one behind the other
  std::vector<std::string> missing;  // what is known not to be there, for people
};

struct PerfDataContent {
  std::vector<PerfDataTrace> traces;  // by place and type
  std::vector<std::string> missing;   // of no trace in particular
};

inline constexpr size_t kPerfDataMagicBytes = 8;
bool is_perf_data(std::span<const std::byte> first_bytes);

// Fills `buffer` from `offset` on; less only at the end of the file.
using ReadAt = std::function<size_t(uint64_t offset, std::span<std::byte> buffer)>;

// Reads all but the trace bytes, in constant memory but for what it returns. Any bytes will do:
// throws Error when they are no perf.data file that can be read, and tells what is damaged.
PerfDataContent find_traces(uint64_t file_bytes, const ReadAt& read);

}  // namespace htmtrace
