// SPDX-License-Identifier: GPL-2.0-or-later
// The signals that a recording waits for, as a descriptor.
#pragma once

#include <csignal>
#include <optional>
#include <string>

#include "ringbuf/fd.h"

namespace htmtrace {

class Signals {
 public:
  // Blocks SIGINT, SIGTERM, SIGHUP and SIGUSR2, so that none ends the process unseen: the first
  // thing that main() does. The kernel keeps a blocked signal until watch() or release(), even one
  // that the process was started with ignored. SIGHUP stays ignored where it was (nohup). Write
  // errors replace SIGPIPE and SIGXFSZ.
  Signals();
  // Without watch(): release().
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // For commands that a signal may end at any time: signals act as they did before. SIGPIPE and
  // SIGXFSZ stay ignored.
  void release() const;

  // For commands that record: from here to the end of the process, only next() delivers signals,
  // SIGCHLD included. Harmless when called twice. Throws Error.
  void watch();

  int fd() const { return fd_.get(); }

  struct Received {
    int number = 0;
    bool from_terminal = false;  // so the whole foreground group got it
  };
  // The next signal that has arrived, without waiting.
  std::optional<Received> next();

  // For a child before exec: the mask and the dispositions that this process was started with, but
  // SIGINT and SIGTERM end the child, as they end a recording.
  void restore() const;

  // Around system calls that only a fatal signal interrupts. next() delivers the first signal that
  // arrives meanwhile; a message confirms it. A second one ends the process.
  class Impatient {
   public:
    // watch() was called.
    explicit Impatient(Signals& signals);
    ~Impatient();
    Impatient(const Impatient&) = delete;
    Impatient& operator=(const Impatient&) = delete;

   private:
    Signals& signals_;
  };

 private:
  Fd fd_;
  std::optional<Received> early_;  // during Impatient
  bool hangup_ignored_ = false;
  sigset_t old_mask_{};
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  struct sigaction old_child_ {};
  struct sigaction old_file_size_ {};
  struct sigaction old_pipe_ {};
};

// Why a recording is empty: "SIGTERM ended it before it started".
std::string unstarted_because(int number);

// "SIGTERM"; "a signal" for one that no recording waits for.
const char* signal_name(int number);

}  // namespace htmtrace
