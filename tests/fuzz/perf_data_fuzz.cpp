// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a perf.data file: what is found lies in it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "core/perf_data/dispatches.h"
#include "core/perf_data/file.h"

namespace {

void check(const std::vector<htmtrace::FileExtent>& extents, size_t size) {
  for (const htmtrace::FileExtent& extent : extents) {
    if (extent.offset > size || extent.size_bytes > size - extent.offset) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const htmtrace::ReadAt read = [&](uint64_t offset, std::span<std::byte> buffer) {
    if (offset >= size) return size_t{0};
    const size_t got = std::min<size_t>(buffer.size(), size - offset);
    if (got != 0) std::memcpy(buffer.data(), data + offset, got);
    return got;
  };
  try {
    const htmtrace::DtlPerfContent content = htmtrace::find_dispatches(size, read);
    for (const htmtrace::DtlPerfChunk& chunk : content.chunks) {
      check({chunk.at}, size);
      if (!content.cpus.contains(chunk.cpu)) std::abort();
    }
  } catch (const htmtrace::Error&) {
    // it has no dispatch trace log, and says so
  }
  try {
    for (const htmtrace::PerfDataTrace& trace : htmtrace::find_traces(size, read).traces) {
      check(trace.trace, size);
      check(trace.map, size);
    }
  } catch (const htmtrace::Error&) {
    return 0;  // it is none, and says so
  }
  return 0;
}
