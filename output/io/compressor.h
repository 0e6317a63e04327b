// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a file of zstd frames in the zstd seekable format. Each frame can be read by itself, and a
// skippable frame at the end of the file lists the sizes of all frames (contrib/seekable_format of
// zstd). A separate thread compresses and writes. The appending thread waits for that thread only
// when four frames are pending. If the system cannot start a thread, the appending thread
// compresses and writes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "output/io/trace_sink.h"

namespace htmtrace {

// Returns whether this build can compress (this needs libzstd).
bool can_compress();
int most_compression();  // the highest level

class Compressor {
 public:
  // Only this object writes `file`, which must be empty and must outlive this object. Throws Error.
  Compressor(TraceSink& file, int level);
  // Drops bytes that were appended and are not written yet.
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  bool has_thread() const { return thread_.has_value(); }

  void append(std::span<const std::byte> bytes);

  // Waits until all frames are written. The file then holds complete frames only, even after an
  // error.
  void finish();

  // Valid after finish(). Appended bytes that are not in the file are missing because of
  // file.error().
  uint64_t written_bytes() const { return written_bytes_; }
  uint64_t discarded_bytes() const { return discarded_bytes_; }

 private:
  static constexpr size_t kFrameBytes = 1 << 20;
  static constexpr size_t kFrames = 4;

  struct Context;  // the library's state
  struct FrameSizes {
    uint32_t stored = 0;
    uint32_t plain = 0;
  };
  struct Frame {
    std::vector<std::byte> bytes;
    size_t used = 0;
  };

  void hand_over();
  void work();
  void write(Frame& frame);
  void write(std::span<const std::byte> plain);
  void write_seek_table();
  void stop();

  TraceSink& file_;
  std::unique_ptr<Context> context_;
  std::vector<std::byte> packed_;
  std::vector<FrameSizes> sizes_;
  uint64_t written_bytes_ = 0;
  uint64_t discarded_bytes_ = 0;

  std::vector<Frame> frames_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t filled_ = 0;    // number of frames handed over to the thread
  uint64_t done_ = 0;      // number of these frames that the thread has finished
  bool ended_ = false;     // no further frame follows
  bool given_up_ = false;  // drop the remaining frames
  bool finished_ = false;
  std::optional<std::thread> thread_;
};

}  // namespace htmtrace
