// SPDX-License-Identifier: GPL-2.0-or-later
// The program that runs during the recording.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/capture/identity.h"
#include "cli/pipe.h"
#include "cli/signals.h"

namespace htmtrace {

// Throws Error if `program` is not in PATH or not executable, with the reason that a shell gives.
void check_program(const std::string& program);

class Workload {
 public:
  // Forks a child that waits for start(). With `to_stderr`, its standard output goes to standard
  // error. With `user`, the command runs as this user, inherits only the standard streams, and
  // cannot type into the terminal. Throws Error.
  Workload(std::vector<std::string> command, const Signals& signals, bool to_stderr = false,
           std::optional<Identity> user = {});
  // Ends a child that was never started, and leaves a running child alone.
  ~Workload();
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  // Restricts the child to these CPUs. Call it before start(). Throws Error.
  void bind(const std::vector<int>& cpus) const;

  // Lets the child run the command, and returns when the command runs. Throws Error.
  void start();

  bool started() const { return started_; }

  // Returns true if the child has ended.
  bool ended();

  // Waits for the end of the child.
  void wait_end();

  // Returns false if the kernel does not allow it.
  bool send(int signal) const;

  // Passes on a signal that ends the recording. A signal from the terminal has already reached the
  // child.
  void pass_on(const Signals::Received& signal);

  // Ends the child: sends SIGTERM unless a signal was sent before, and kills the child after a
  // timeout or when `cut_short` returns true. Calls `cut_short` when `signals` is readable. Returns
  // a note for the user if the child did not end by itself. A child that has become another user
  // may refuse all signals; it then runs on.
  std::string end(const Signals& signals, const std::function<bool()>& cut_short);

  const std::vector<std::string>& command() const { return command_; }
  pid_t pid() const { return pid_; }
  // After ended() returns true, one of these has a value.
  std::optional<int> exit_status() const { return exit_status_; }
  std::optional<int> killed_by() const { return killed_by_; }
  // Returns true if the child died from the signal that requested its end.
  bool ended_as_asked() const { return killed_by_ && killed_by_ == asked_with_; }

 private:
  [[noreturn]] void be_child(const Signals& signals);
  [[noreturn]] void fail_in_child(bool as_user, int reason) const;
  void reap(int options);

  std::vector<std::string> command_;
  bool to_stderr_ = false;
  std::optional<Identity> user_;
  pid_t pid_ = -1;
  bool started_ = false;
  Pipe go_ = make_pipe();     // one byte: run; end of file: exit
  Pipe error_ = make_pipe();  // why exec failed; end of file: the command runs
  std::optional<int> exit_status_;
  std::optional<int> killed_by_;
  std::optional<int> asked_with_;  // the last signal that requested the end
};

}  // namespace htmtrace
