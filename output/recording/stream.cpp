// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/stream.h"

#include <unistd.h>

#include <cerrno>

namespace htmtrace {

size_t TraceStream::put(const StreamFrame& frame, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const auto header = stream_header(frame);
  if (write(header) != header.size()) return 0;
  return write(bytes);
}

size_t TraceStream::write(std::span<const std::byte> bytes) {
  size_t done = 0;
  while (done < bytes.size() && !error_) {
    const ssize_t got = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (got >= 0) {
      done += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      error_ = errno;
      error_moment_ = now();
    }
  }
  return done;
}

std::optional<int> TraceStream::error() {
  const std::lock_guard lock(mutex_);
  return error_;
}

Moment TraceStream::error_moment() {
  const std::lock_guard lock(mutex_);
  return error_moment_;
}

}  // namespace htmtrace
