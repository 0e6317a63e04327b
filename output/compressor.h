// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a file of zstd frames of which each can be read by itself, in the zstd seekable format: at
// its end is a skippable frame with the sizes of all (contrib/seekable_format of zstd). A thread
// compresses and writes, so that whoever appends need not wait for it until four frames are behind.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "output/trace_sink.h"

namespace htmtrace {

// Whether this build can (it needs libzstd).
bool can_compress();
int most_compression();  // the highest level

class Compressor {
 public:
  // `file`, which outlives this object, is empty and is written by this object alone. Throws Error.
  Compressor(TraceSink& file, int level);
  // What was appended and is not written yet is given up.
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  void append(std::span<const std::byte> bytes);

  // Waits until all is written. The file then holds whole frames only, whatever went wrong.
  void finish();

  // Valid after finish(): what was appended is in the file, or is not because of file.error().
  uint64_t written_bytes() const { return written_bytes_; }
  uint64_t discarded_bytes() const { return discarded_bytes_; }

 private:
  static constexpr size_t kFrameBytes = 1 << 20;
  static constexpr size_t kFrames = 4;

  struct Context;  // of the library
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
  uint64_t filled_ = 0;  // frames handed over, and of them those that are done
  uint64_t done_ = 0;
  bool ended_ = false;     // no further frame comes
  bool given_up_ = false;  // the others are not written
  std::thread thread_;
};

}  // namespace htmtrace
