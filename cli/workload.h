// SPDX-License-Identifier: GPL-2.0-or-later
// The program that runs while the trace is made.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/signals.h"
#include "ringbuf/fd.h"

namespace htmtrace {

// Throws Error when `program` cannot be found through PATH or may not be run, as a shell would say.
void check_program(const std::string& program);

class Workload {
 public:
  // Forks a child that waits for start(). What it writes to standard output goes to standard error
  // when `to_stderr`. Throws Error.
  Workload(std::vector<std::string> command, const Signals& signals, bool to_stderr = false);
  // A child that was never started goes away; one that runs is left alone.
  ~Workload();
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  // Lets it run on these CPUs only. Before start(). Throws Error.
  void bind(const std::vector<int>& cpus) const;

  // Lets the child run the command; returns when it does. Throws Error when that fails.
  void start();

  bool started() const { return started_; }

  // Takes note if the child has ended. True when it has.
  bool ended();

  // Waits until it has ended.
  void wait_end();

  void send(int signal) const;

  // It is to end, because we were asked to; a signal of the terminal has reached it, too.
  void pass_on(const Signals::Received& signal);

  // Has it end: asks it, unless it was asked, and kills it when it has not ended after a while or
  // `cut_short` says so; that is called when `signals` may have something. True if it was killed.
  bool end(const Signals& signals, const std::function<bool()>& cut_short);

  const std::vector<std::string>& command() const { return command_; }
  pid_t pid() const { return pid_; }
  // One of them once ended() is true.
  std::optional<int> exit_status() const { return exit_status_; }
  std::optional<int> killed_by() const { return killed_by_; }
  // It was killed by the signal with which it was asked to end.
  bool ended_as_asked() const { return killed_by_ && killed_by_ == asked_with_; }

 private:
  [[noreturn]] void be_child(const Signals& signals);
  void reap(int options);

  std::vector<std::string> command_;
  bool to_stderr_ = false;
  pid_t pid_ = -1;
  bool started_ = false;
  Fd go_read_, go_write_;        // a byte: run; the end: go away
  Fd error_read_, error_write_;  // errno of exec; the end: it runs
  std::optional<int> exit_status_;
  std::optional<int> killed_by_;
  std::optional<int> asked_with_;  // the last signal with which it was asked to end
};

}  // namespace htmtrace
