// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a part of a test in a child process.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace htmtrace {

// Returns the wait status of a child that runs `work` and exits with its result.
inline int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // doctest installs its own handlers.
    for (const int number : {SIGINT, SIGTERM}) ::signal(number, SIG_DFL);
    ::_exit(work());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

inline bool exited_with(int status, int code) {
  CAPTURE(status);
  return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

inline bool killed_by(int status, int number) {
  CAPTURE(status);
  return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

}  // namespace htmtrace
