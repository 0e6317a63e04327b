// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a stream of record -o -. The extents are in the file, do not overlap, and are as
// long as their parts.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/selection/stream_frames.h"

namespace {

uint64_t check(const htmtrace::StreamRecording::Part& part, size_t size) {
  uint64_t sum = 0;
  uint64_t end = 0;
  for (const htmtrace::FileExtent& extent : part.extents) {
    if (extent.offset < end || extent.offset > size || extent.size_bytes > size - extent.offset) {
      std::abort();
    }
    end = extent.offset + extent.size_bytes;
    sum += extent.size_bytes;
  }
  if (sum != part.size_bytes) std::abort();
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const htmtrace::StreamContent content =
      htmtrace::find_recordings(size, [&](uint64_t offset, std::span<std::byte> buffer) {
        if (offset >= size) return size_t{0};
        const size_t got = std::min<size_t>(buffer.size(), size - offset);
        std::memcpy(buffer.data(), data + offset, got);
        return got;
      });
  uint64_t sum = 0;
  for (const htmtrace::StreamRecording& recording : content.recordings) {
    const uint16_t* before = nullptr;
    for (const htmtrace::StreamRecording::Target& target : recording.targets) {
      if (before != nullptr && *before >= target.number) std::abort();
      before = &target.number;
      sum += check(target.trace, size) + check(target.translation, size);
    }
  }
  if (sum > size) std::abort();
  return 0;
}
