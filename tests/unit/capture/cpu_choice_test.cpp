// SPDX-License-Identifier: GPL-2.0-or-later
// The choice of a CPU, on a machine that is modeled by files.
#include "cli/locate/cpu_choice.h"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/unit/temporary_folder.h"

using namespace htmtrace;

namespace {

// Field 3 of /proc/PID/stat is the state, and field 39 the CPU.
void add_task(const TemporaryFolder& machine, int process, int task, char state, int cpu) {
  std::string stat = fmt::format("{} (a (b) R 7) {}", task, state);
  for (int field = 4; field < 39; field++) stat += " 0";
  machine.write(fmt::format("proc/{}/task/{}/stat", process, task),
                stat + fmt::format(" {} 0 0\n", cpu));
}

}  // namespace

TEST_CASE("a program gets a CPU on which no task runs") {
  const TemporaryFolder machine;
  add_task(machine, 10, 10, 'R', 1);
  add_task(machine, 10, 11, 'R', 1);
  add_task(machine, 20, 20, 'R', 3);
  add_task(machine, 30, 30, 'S', 2);
  CHECK(least_busy_first({0, 1, 2, 3}, machine.path()) == std::vector{2, 0, 3, 1});
}

TEST_CASE("tasks of this process do not count") {
  const TemporaryFolder machine;
  add_task(machine, ::getpid(), ::getpid(), 'R', 1);
  add_task(machine, 20, 20, 'R', 2);
  CHECK(least_busy_first({2, 1}, machine.path()) == std::vector{1, 2});
}

TEST_CASE("the threads of a core share its tasks") {
  const TemporaryFolder machine;
  for (const int cpu : {0, 1, 2, 3}) {
    machine.write(fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu),
                  cpu < 2 ? "0-1\n" : "2-3\n");
  }
  add_task(machine, 20, 20, 'R', 3);
  CHECK(least_busy_first({0, 1, 2, 3}, machine.path()) == std::vector{1, 0, 2, 3});
}

TEST_CASE("without any information, CPU 0 is the last") {
  const TemporaryFolder machine;
  CHECK(least_busy_first({0, 4, 5}, machine.path()) == std::vector{4, 5, 0});
}
