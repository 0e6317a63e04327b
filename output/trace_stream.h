// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a recording as one stream, htmtrace-stream(5). Several threads may put frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "core/stream_frames.h"
#include "output/moment.h"

namespace htmtrace {

class TraceStream {
 public:
  // Does not close `fd`.
  explicit TraceStream(int fd) : fd_(fd) {}

  // Returns how many of the bytes were written, fewer only after an error. Waits for whoever reads.
  size_t put(const StreamFrame& frame, std::span<const std::byte> bytes);

  // errno of the first error, and when it came. After it nothing is written any more.
  std::optional<int> error();
  Moment error_moment();

 private:
  size_t write(std::span<const std::byte> bytes);

  std::mutex mutex_;
  int fd_;
  std::optional<int> error_;
  Moment error_moment_;
};

// The bytes of one kind that one target of a recording has in the stream.
struct StreamPart {
  TraceStream& stream;
  StreamFrame::Kind kind;
  uint16_t target = 0;
  uint32_t recording = 0;
  uint64_t written_bytes = 0;
  uint64_t discarded_bytes = 0;

  void append(std::span<const std::byte> bytes) {
    const size_t written = stream.put({.kind = kind,
                                       .target = target,
                                       .recording = recording,
                                       .position = written_bytes,
                                       .size_bytes = bytes.size()},
                                      bytes);
    written_bytes += written;
    discarded_bytes += bytes.size() - written;
  }

  void rewrite(std::span<const std::byte> bytes) {
    written_bytes = 0;
    append(bytes);
  }
};

}  // namespace htmtrace
