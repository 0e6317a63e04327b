// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/stream.h"

#include <sys/eventfd.h>

namespace htmtrace {

TraceStream::TraceStream(int fd) : give_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), output_(fd) {
  if (give_up_) output_.end_on(give_up_.get(), kReaderPatience);
}

void TraceStream::give_up() {
  if (give_up_) ::eventfd_write(give_up_.get(), 1);
}

size_t TraceStream::put(const StreamFrame& frame, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const auto header = stream_header(frame);
  if (write(header) != header.size()) return 0;
  return write(bytes);
}

size_t TraceStream::write(std::span<const std::byte> bytes) {
  size_t done = 0;
  while (done < bytes.size() && !error_) {
    const ssize_t got = output_.write(bytes.subspan(done));
    if (got >= 0) {
      done += static_cast<size_t>(got);
      if (output_.given_up()) fail(kReaderStalled);
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
  return done;
}

void TraceStream::fail(int reason) {
  error_ = reason;
  error_moment_ = now();
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
