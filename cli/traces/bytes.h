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

// By an index: where in the trace reading can begin, and where the trace begins in the file.
struct CoreStart {
  CoreRestart restart;
  uint64_t oldest = 0;
  std::vector<Power8Page> pages;  // decoded before it
};

class TraceBytes {
 public:
  // Looks for the oldest byte of a regular file unless `file_order` says that its order is right,
  // or that it must be taken as it comes.
  TraceBytes(InputFile& input, bool file_order);
  // An index says where that is, and where to begin.
  TraceBytes(InputFile& input, CoreStart start);

  const InputFile& file() const { return input_; }

  // Where the trace begins in the file, if the buffer had wrapped: what read() gives starts there.
  std::optional<uint64_t> wrapped_at() const { return wrapped_at_; }

  // What the first byte of read() follows, when that is not the begin of the trace.
  const std::optional<CoreRestart>& restart() const { return restart_; }
  // The losses reported before that offset.
  std::span<const Power8Page> pages() const { return pages_; }

  // Reads up to `buffer.size()` bytes. Returns 0 at the end. Throws Error.
  size_t read(std::span<std::byte> buffer);
  // Returns true at the end.
  bool ended() const { return ended_; }

 private:
  size_t read_next(std::span<std::byte> buffer);

  InputFile& input_;
  std::optional<uint64_t> wrapped_at_;
  std::optional<CoreRestart> restart_;
  std::vector<Power8Page> pages_;
  bool second_part_ = false;  // of a wrapped trace: what lies before its begin
  uint64_t left_ = 0;         // of that
  bool ended_ = false;
};

}  // namespace htmtrace
