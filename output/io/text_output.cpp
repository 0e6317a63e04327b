// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/text_output.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "core/base/error.h"

namespace htmtrace {

TextOutput::TextOutput(int fd, std::string name)
    : fd_(fd), name_(std::move(name)), buffer_(new char[kBufferBytes]) {}

TextOutput TextOutput::standard_output() {
  return {STDOUT_FILENO, "standard output"};
}

TextOutput TextOutput::memory() {
  return {-1, "memory"};
}

TextOutput TextOutput::create(const std::filesystem::path& path, Existing existing) {
  NewFile file = NewFile::create(path, existing);
  TextOutput output(file.fd(), path.string());
  output.file_.emplace(std::move(file));
  return output;
}

TextOutput::TextOutput(TextOutput&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      file_(std::move(other.file_)),
      name_(std::move(other.name_)),
      reader_gone_(other.reader_gone_),
      give_up_(other.give_up_),
      patience_(other.patience_),
      given_up_(other.given_up_),
      unwritten_bytes_(other.unwritten_bytes_),
      capacity_(other.capacity_),
      buffer_(std::move(other.buffer_)),
      at_(std::exchange(other.at_, nullptr)),
      last_(std::exchange(other.last_, nullptr)) {}

void TextOutput::put(std::string_view text) {
  while (!text.empty()) {
    const size_t piece = std::min(text.size(), kRoom);
    commit(std::copy_n(text.data(), piece, room()));
    text.remove_prefix(piece);
  }
}

void TextOutput::put_large(std::string_view text) {
  flush();
  write_out(text);
}

void TextOutput::make_room() {
  if (fd_ >= 0) return flush();
  std::unique_ptr<char[]> larger(new char[2 * capacity_]);
  at_ = std::copy_n(buffer_.get(), used(), larger.get());
  buffer_ = std::move(larger);
  capacity_ *= 2;
  last_ = buffer_.get() + capacity_ - kRoom;
}

void TextOutput::flush() {
  if (fd_ < 0) return;
  const std::string_view all = text();
  clear();
  write_out(all);
}

void TextOutput::write_out(std::string_view text) {
  while (!text.empty() && !reader_gone_ && !given_up_) {
    const ssize_t written = write_some(text);
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      reader_gone_ = true;
    } else if (errno != EINTR) {
      throw Error("cannot write " + name_, errno);
    }
  }
  if (given_up_) unwritten_bytes_ += text.size();
}

// Blocks only in wait_for_room(), which can give up. Returns 0 after giving up.
ssize_t TextOutput::write_some(std::string_view text) {
  if (give_up_ < 0) return ::write(fd_, text.data(), text.size());
  // O_NONBLOCK would affect all processes that share this pipe or terminal.
  iovec all{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
  const ssize_t written = ::pwritev2(fd_, &all, 1, -1, RWF_NOWAIT);
  // Pipes support RWF_NOWAIT since Linux 6.4. Terminals do not support it.
  const bool cannot = errno == EAGAIN || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL;
  if (written >= 0 || !cannot) return written;
  if (!wait_for_room()) {
    given_up_ = true;
    return 0;
  }
  // A pipe that polls as writable accepts PIPE_BUF bytes without blocking.
  return ::write(fd_, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
}

// Returns false if the output has no room and the wait must end.
bool TextOutput::wait_for_room() {
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

void TextOutput::give_up_on(int give_up, std::chrono::milliseconds patience) {
  struct stat status {};
  // A regular file never waits for room: it has room, or the write fails.
  if (::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode)) return;
  give_up_ = give_up;
  patience_ = patience;
}

std::chrono::nanoseconds TextOutput::waiting() const {
  using Clock = std::chrono::steady_clock;
  const Clock::rep since = waiting_since_;
  return since == 0 ? Clock::duration(0) : Clock::now().time_since_epoch() - Clock::duration(since);
}

void TextOutput::finish() {
  flush();
  if (!file_) return;
  fd_ = -1;
  if (const int reason = file_->finish(); reason != 0) throw Error("cannot write " + name_, reason);
}

}  // namespace htmtrace
