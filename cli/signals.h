// SPDX-License-Identifier: GPL-2.0-or-later
// The signals that a recording waits for, as a descriptor.
#pragma once

#include <csignal>
#include <optional>
#include <string>

#include "core/base/fd.h"

namespace htmtrace {

// The value (sigqueue(3)) of the SIGTERM that htmtrace stop sends: "htms".
inline constexpr int kStopValue = 0x68746d73;

class Signals {
 public:
  // Blocks SIGINT, SIGTERM, SIGHUP and SIGUSR2, so that no signal ends the process unseen. main()
  // calls it first. The kernel keeps a blocked signal until watch() or release(), even if the
  // process inherited it as ignored. An ignored SIGHUP stays ignored (nohup). Write errors replace
  // SIGPIPE and SIGXFSZ.
  Signals();
  // Calls release(), unless watch() was called.
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // For commands that a signal may end at any time: restores the inherited signals. SIGPIPE and
  // SIGXFSZ stay ignored.
  void release() const;

  // For commands that record: from here to the end of the process, only next() delivers signals,
  // SIGCHLD included. Harmless when called twice. Throws Error.
  void watch();

  int fd() const { return fd_.get(); }

  struct Received {
    int number = 0;
    bool from_terminal = false;  // so the whole foreground group got it
    bool of_stop = false;        // with kStopValue: it never cuts a save short
  };
  // Returns the next signal that has arrived, without waiting.
  std::optional<Received> next();

  // For a child before exec: restores the inherited mask and dispositions, except that SIGINT and
  // SIGTERM end the child, as they end a recording.
  void restore() const;

  // Guards system calls that only a fatal signal interrupts. A message confirms the first signal
  // that arrives meanwhile, and next() delivers it. A second signal ends the process.
  class Impatient {
   public:
    // Call watch() first.
    explicit Impatient(Signals& signals);
    ~Impatient();
    Impatient(const Impatient&) = delete;
    Impatient& operator=(const Impatient&) = delete;

   private:
    Signals& signals_;
  };

 private:
  Fd fd_;
  std::optional<Received> early_;  // arrived during Impatient
  bool hangup_ignored_ = false;
  sigset_t old_mask_{};
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
  struct sigaction old_child_ {};
  struct sigaction old_file_size_ {};
  struct sigaction old_pipe_ {};
};

// The reason for an empty recording: "SIGTERM ended the recording before it started".
std::string unstarted_because(int number);

// Returns a name such as "SIGTERM", or "a signal" if no recording handles this signal.
const char* signal_name(int number);

}  // namespace htmtrace
