// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/signals.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace htmtrace {

TEST_CASE("signals come through the descriptor") {
  Signals signals;
  signals.watch();
  CHECK_FALSE(signals.next());
  ::kill(::getpid(), SIGTERM);
  const auto got = signals.next();
  REQUIRE(got);
  CHECK(got->number == SIGTERM);
  CHECK_FALSE(got->from_terminal);
  signals.restore();
}

TEST_CASE("once watched for, a signal does not change the status that the process ends with") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    CAPTURE(number);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      {
        Signals signals;
        signals.watch();
        ::kill(::getpid(), number);
      }
      ::kill(::getpid(), number);
      ::_exit(7);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
  }
}

}  // namespace htmtrace
