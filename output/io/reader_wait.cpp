// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/reader_wait.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

namespace htmtrace {

void ReaderWait::end_on(int give_up, std::chrono::milliseconds patience) {
  struct stat status {};
  if (::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode)) return;
  give_up_ = give_up;
  patience_ = patience;
}

// After end_on(), waits for a pipe only in wait_for_room(), which can give up.
ssize_t ReaderWait::write(std::span<const std::byte> bytes) {
  if (given_up_) return 0;
  if (give_up_ < 0) return ::write(fd_, bytes.data(), bytes.size());
  // O_NONBLOCK would affect all processes that share this pipe or terminal.
  iovec all{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  const ssize_t written = ::pwritev2(fd_, &all, 1, -1, RWF_NOWAIT);
  // Pipes support RWF_NOWAIT since Linux 6.4. Terminals do not support it.
  const bool cannot = errno == EAGAIN || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL;
  if (written >= 0 || !cannot) return written;
  if (!wait_for_room()) {
    given_up_ = true;
    return 0;
  }
  // A pipe that polls as writable accepts PIPE_BUF bytes without blocking.
  return ::write(fd_, bytes.data(), std::min<size_t>(bytes.size(), PIPE_BUF));
}

// Returns false if the output has no room and the wait must end.
bool ReaderWait::wait_for_room() {
  std::array<pollfd, 2> fds{pollfd{fd_, POLLOUT, 0}, pollfd{give_up_, POLLIN, 0}};
  waiting_since_ = std::chrono::steady_clock::now().time_since_epoch().count();
  while (::poll(fds.data(), fds.size(), -1) < 0 && errno == EINTR) {
  }
  if (fds[0].revents == 0) {
    while (::poll(fds.data(), 1, static_cast<int>(patience_.count())) < 0 && errno == EINTR) {
    }
  }
  waiting_since_ = 0;
  return fds[0].revents != 0;
}

std::chrono::nanoseconds ReaderWait::waiting() const {
  using Clock = std::chrono::steady_clock;
  const Clock::rep since = waiting_since_;
  return since == 0 ? Clock::duration(0) : Clock::now().time_since_epoch() - Clock::duration(since);
}

}  // namespace htmtrace
