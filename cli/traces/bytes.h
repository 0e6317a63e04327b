// SPDX-License-Identifier: GPL-2.0-or-later
// The bytes of a core trace, in the order of recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/selection/index.h"
#include "output/io/input_file.h"

namespace htmtrace {

// The index's start for reading: a restart, and the offset in the file at which the trace begins.
struct CoreStart {
  CoreRestart restart;
  uint64_t oldest = 0;
  std::vector<Power8Page> pages;  // the pages that the trace reported before the restart
};

class TraceBytes {
 public:
  // Finds the oldest byte of a regular file. With `file_order`, reads the file from its first byte.
  TraceBytes(InputFile& input, bool file_order);
  // Reads from the index's start.
  TraceBytes(InputFile& input, CoreStart start);

  const InputFile& file() const { return input_; }

  // The file offset of the oldest byte if the buffer wrapped. Without a restart, read() begins
  // there.
  std::optional<uint64_t> wrapped_at() const { return wrapped_at_; }

  // The restart at which read() begins. Empty if read() begins at the start of the trace.
  const std::optional<CoreRestart>& restart() const { return restart_; }
  // The pages that the trace reported before the restart.
  std::span<const Power8Page> pages() const { return pages_; }

  // Reads up to `buffer.size()` bytes. Returns 0 at the end. Throws Error.
  size_t read(std::span<std::byte> buffer);
  // Returns true after read() has returned 0, unless leave_rest() was called.
  bool ended() const { return ended_ && !has_rest_; }
  // Call leave_rest() if the decoder did not need the rest of the trace. Callers then do not report
  // a defect that read() met there.
  void leave_rest() { has_rest_ = true; }

 private:
  size_t read_next(std::span<std::byte> buffer);

  InputFile& input_;
  std::optional<uint64_t> wrapped_at_;
  std::optional<CoreRestart> restart_;
  std::vector<Power8Page> pages_;
  bool second_part_ = false;  // reads the newer part of a wrapped trace: the file's first bytes
  uint64_t left_ = 0;         // unread bytes of the newer part
  bool ended_ = false;
  bool has_rest_ = false;  // leave_rest() was called
};

}  // namespace htmtrace
