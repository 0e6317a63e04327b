// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a recording as one stream, htmtrace-stream(5). Several threads may write frames.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "core/base/fd.h"
#include "core/selection/stream_frames.h"
#include "output/io/moment.h"
#include "output/io/reader_wait.h"

namespace htmtrace {

class TraceStream {
 public:
  // The error after give_up(), if the reader is stalled.
  static constexpr int kReaderStalled = ETIMEDOUT;

  // Does not close `fd`.
  explicit TraceStream(int fd);

  // Returns the number of bytes written. The number is smaller than the size only after an error.
  // Waits for the reader.
  size_t put(const StreamFrame& frame, std::span<const std::byte> bytes);

  // errno and the moment of the first error. After an error, all further frames are dropped.
  std::optional<int> error();
  Moment error_moment();

  // From now on, a reader that stalls for kReaderPatience is an error. Any thread may call this.
  void give_up();

 private:
  size_t write(std::span<const std::byte> bytes);
  void fail(int reason);

  std::mutex mutex_;
  Fd give_up_;
  ReaderWait output_;
  std::optional<int> error_;
  Moment error_moment_;
};

// The bytes of one kind that belong to one target of a recording.
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
