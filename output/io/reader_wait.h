// SPDX-License-Identifier: GPL-2.0-or-later
// Writes to a pipe, socket or terminal, and waits for its reader. A stalled reader need not stall
// the writer forever: another descriptor ends the wait.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>

namespace htmtrace {

// The time after which a reader counts as stalled.
inline constexpr std::chrono::milliseconds kReaderPatience{1000};

class ReaderWait {
 public:
  // Does not own `fd`.
  explicit ReaderWait(int fd) : fd_(fd) {}
  ReaderWait(ReaderWait&& other) noexcept
      : fd_(other.fd_),
        give_up_(other.give_up_),
        patience_(other.patience_),
        given_up_(other.given_up_) {}
  ReaderWait& operator=(ReaderWait&&) = delete;
  ReaderWait(const ReaderWait&) = delete;
  ReaderWait& operator=(const ReaderWait&) = delete;

  // After the descriptor `give_up` becomes readable, write() waits at most `patience` for room, and
  // then gives up. Has no effect on a regular file, which always has room or an error.
  void end_on(int give_up, std::chrono::milliseconds patience);

  // Like write(2). Returns 0 after it has given up.
  ssize_t write(std::span<const std::byte> bytes);
  bool given_up() const { return given_up_; }

  // How long the current wait for room has lasted. Any thread may call this.
  std::chrono::nanoseconds waiting() const;

 private:
  bool wait_for_room();

  int fd_;
  int give_up_ = -1;
  std::chrono::milliseconds patience_{0};
  bool given_up_ = false;
  std::atomic<std::chrono::steady_clock::rep> waiting_since_ = 0;  // 0 while not waiting
};

}  // namespace htmtrace
