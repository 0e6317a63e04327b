// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the traces of htm events in a perf.data file from the perf tool of the htm series. Trace
// bytes are AUX data. The memory map is in raw samples or, with the first public driver, after the
// trace. Layouts: tools/perf/Documentation/perf.data-file-format.txt and enum perf_event_type of
// Linux. Any machine can read files of either byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/file_extent.h"
#include "core/base/target.h"

namespace htmtrace {

struct PerfDataTrace {
  TraceTarget target;
  std::vector<FileExtent> trace;     // in trace order
  std::vector<FileExtent> map;       // consecutive blocks of the memory map
  std::vector<std::string> missing;  // known losses, as text for the user
};

struct PerfDataContent {
  std::vector<PerfDataTrace> traces;  // sorted by target and type
  std::vector<std::string> missing;   // losses without a specific trace
};

inline constexpr size_t kPerfDataMagicBytes = 8;
bool is_perf_data(std::span<const std::byte> first_bytes);

// Fills `buffer` from `offset` on. Returns less than its size only at the end of the file.
using ReadAt = std::function<size_t(uint64_t offset, std::span<std::byte> buffer)>;

// Reads everything except the trace bytes. Uses constant memory plus the result. Accepts any bytes.
// Throws Error if the bytes are not a readable perf.data file; reports damage in `missing`.
PerfDataContent find_traces(uint64_t file_bytes, const ReadAt& read);

}  // namespace htmtrace
