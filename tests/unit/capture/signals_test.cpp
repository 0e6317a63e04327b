// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/signals.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <string>

#include "cli/capture/workload.h"
#include "cli/standard_streams.h"
#include "tests/unit/in_child.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {

TEST_CASE("signals arrive through the descriptor") {
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

TEST_CASE(
    "after watch(), a signal does not change the exit status of the "
    "process") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    CAPTURE(number);
    const int status = in_child([number] {
      {
        Signals signals;
        signals.watch();
        ::kill(::getpid(), number);
      }
      ::kill(::getpid(), number);
      return 7;
    });
    CHECK(exited_with(status, 7));
  }
}

TEST_CASE("a signal before watch() is kept, even if it was ignored") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) {
    CAPTURE(number);
    const int status = in_child([number] {
      if (number == SIGINT || number == SIGTERM) ::signal(number, SIG_IGN);
      Signals signals;
      ::kill(::getpid(), number);
      signals.watch();
      const auto got = signals.next();
      return got && got->number == number ? 7 : 8;
    });
    CHECK(exited_with(status, 7));
  }
}

TEST_CASE("nohup: an ignored SIGHUP does not end a recording") {
  const int status = in_child([] {
    ::signal(SIGHUP, SIG_IGN);
    Signals signals;
    signals.watch();
    ::kill(::getpid(), SIGHUP);
    return signals.next() ? 8 : 7;
  });
  CHECK(exited_with(status, 7));
}

TEST_CASE("release() restores the inherited signals") {
  CHECK(killed_by(in_child([] {
                    const Signals signals;
                    ::kill(::getpid(), SIGTERM);
                    signals.release();
                    return 8;
                  }),
                  SIGTERM));
  CHECK(exited_with(in_child([] {
                      ::signal(SIGINT, SIG_IGN);
                      const Signals signals;
                      ::kill(::getpid(), SIGINT);
                      signals.release();
                      return 7;
                    }),
                    7));
}

TEST_CASE(
    "during Impatient, the first signal is kept and confirmed, and the "
    "second signal is fatal") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const int kept = in_child([&] {
    ::dup2(ends[1], STDERR_FILENO);
    Signals signals;
    signals.watch();
    {
      const Signals::Impatient impatient(signals);
      ::kill(::getpid(), SIGTERM);
    }
    const auto got = signals.next();
    return got && got->number == SIGTERM && !signals.next() ? 7 : 8;
  });
  CHECK(exited_with(kept, 7));
  const int fatal = in_child([&] {
    ::dup2(ends[1], STDERR_FILENO);
    Signals signals;
    signals.watch();
    ::kill(::getpid(), SIGTERM);
    const Signals::Impatient impatient(signals);
    ::kill(::getpid(), SIGINT);
    return 8;
  });
  CHECK(killed_by(fatal, SIGINT));
  std::string said(512, '\0');
  said.resize(static_cast<size_t>(std::max<ssize_t>(::read(ends[0], said.data(), 512), 0)));
  const std::string once =
      "htmtrace: SIGTERM: ends the recording; another "
      "signal ends htmtrace at once\n";
  CHECK(said == once + once);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a workload's status is known even if SIGCHLD was ignored") {
  const int status = in_child([] {
    ::signal(SIGCHLD, SIG_IGN);
    const Signals signals;
    Workload workload({"sh", "-c", "exit 5"}, signals);
    workload.start();
    workload.wait_end();
    return workload.exit_status() == 5 ? 7 : 8;
  });
  CHECK(exited_with(status, 7));
}

TEST_CASE("SIGINT and SIGPIPE end a workload even if SIGINT was ignored") {
  for (const int number : {SIGINT, SIGPIPE}) {
    CAPTURE(number);
    const int status = in_child([number] {
      ::signal(SIGINT, SIG_IGN);
      ::signal(SIGPIPE, SIG_DFL);
      Signals signals;
      signals.watch();
      Workload workload({"sh", "-c", "kill -" + std::to_string(number) + " $$; exit 5"}, signals);
      workload.start();
      workload.wait_end();
      return workload.killed_by() == number ? 7 : 8;
    });
    CHECK(exited_with(status, 7));
  }
}

TEST_CASE("no file replaces a closed standard stream") {
  for (const int closed : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    CAPTURE(closed);
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "file").string();
    const int status = in_child([&] {
      ::close(closed);
      occupy_closed_streams();
      const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
      if (file <= STDERR_FILENO) return 8;
      char byte = 0;
      errno = 0;
      const ssize_t done =
          closed == STDIN_FILENO ? ::read(closed, &byte, 1) : ::write(closed, &byte, 1);
      return done < 0 && errno == EBADF ? 7 : 9;
    });
    CHECK(exited_with(status, 7));
  }
}

}  // namespace htmtrace
