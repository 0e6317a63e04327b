// SPDX-License-Identifier: GPL-2.0-or-later
// The bytes of a core trace in the order in which they were written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "output/input_file.h"

namespace htmtrace {

class TraceBytes {
 public:
  // Looks for the oldest byte of a regular file unless `file_order` says that its order is right,
  // or that it must be taken as it comes.
  TraceBytes(InputFile& input, bool file_order);

  const InputFile& file() const { return input_; }

  // Where the trace begins in the file, if the buffer had wrapped: what read() gives starts there.
  std::optional<uint64_t> wrapped_at() const { return wrapped_at_; }

  // Up to `buffer.size()` bytes; 0 at the end. Throws Error.
  size_t read(std::span<std::byte> buffer);

 private:
  InputFile& input_;
  std::optional<uint64_t> wrapped_at_;
  bool second_part_ = false;  // of a wrapped trace: what lies before its begin
  uint64_t left_ = 0;         // of that
};

}  // namespace htmtrace
