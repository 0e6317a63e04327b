// SPDX-License-Identifier: GPL-2.0-or-later
// The signals that a recording waits for, as a descriptor.
#pragma once

#include <csignal>
#include <optional>

#include "ringbuf/fd.h"

namespace htmtrace {

class Signals {
 public:
  // SIGINT and SIGTERM end the process even if it was started with them ignored, and what SIGXFSZ
  // and SIGPIPE would kill for is a write error.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // From here to the process's end SIGINT, SIGTERM, SIGHUP, SIGCHLD and SIGUSR2 come through next()
  // only. Throws Error.
  void watch();

  int fd() const { return fd_.get(); }

  struct Received {
    int number = 0;
    bool from_terminal = false;  // so the whole foreground group got it
  };
  // The next signal that has come, without waiting.
  std::optional<Received> next() const;

  // Undoes everything; for a child before exec.
  void restore() const;

 private:
  Fd fd_;
  sigset_t old_mask_{};
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  struct sigaction old_file_size_ {};
  struct sigaction old_pipe_ {};
};

}  // namespace htmtrace
