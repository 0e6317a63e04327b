// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/workload.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/affinity.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {

TEST_CASE("a workload does nothing until it is started") {
  const TemporaryFolder folder;
  const Signals signals;
  const std::string mark = (folder.path() / "mark").string();
  { Workload never({"touch", mark}, signals); }
  CHECK_FALSE(std::filesystem::exists(mark));

  Workload workload({"touch", mark}, signals);
  CHECK_FALSE(workload.ended());
  workload.start();
  workload.wait_end();
  CHECK(workload.exit_status() == 0);
  CHECK(std::filesystem::exists(mark));
}

TEST_CASE("a workload can be bound to CPUs, and a missing CPU is reported") {
  const Signals signals;
  Workload workload({"sh", "-c", "test $(nproc) = 1"}, signals);
  cpu_set_t allowed;
  REQUIRE(::sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed)) cpu++;
  CHECK(message_of([&] { workload.bind({1 << 20}); }) ==
        "cannot bind sh to the chosen CPUs: Invalid argument");
  workload.bind({cpu});
  workload.start();
  workload.wait_end();
  CHECK(workload.exit_status() == 0);
}

TEST_CASE("only the CPUs that a thread may run on are counted") {
  cpu_set_t before;
  REQUIRE(::sched_getaffinity(0, sizeof(before), &before) == 0);
  CHECK(allowed_cpus() == static_cast<unsigned>(CPU_COUNT(&before)));
  int cpu = 0;
  while (!CPU_ISSET(cpu, &before)) cpu++;
  REQUIRE(bind_to_cpus(0, {cpu}) == 0);
  CHECK(allowed_cpus() == 1);
  ::sched_setaffinity(0, sizeof(before), &before);
}

TEST_CASE("exit status and killing signal are distinguished") {
  const Signals signals;
  Workload leaves({"sh", "-c", "exit 7"}, signals);
  leaves.start();
  leaves.wait_end();
  CHECK(leaves.exit_status() == 7);
  CHECK_FALSE(leaves.killed_by());

  Workload dies({"sh", "-c", "kill -9 $$"}, signals);
  dies.start();
  dies.wait_end();
  CHECK(dies.killed_by() == 9);
  CHECK_FALSE(dies.exit_status());
}

TEST_CASE("the workload gets our arguments and signals") {
  const TemporaryFolder folder;
  Signals signals;
  signals.watch();
  const std::string out = (folder.path() / "out").string();
  Workload workload({"sh", "-c", "echo \"$#:$2\" >$0; kill -TERM $$; sleep 9", out, "a", "b c"},
                    signals);
  workload.start();
  workload.wait_end();
  CHECK(workload.killed_by() == SIGTERM);  // not blocked, not ignored
  CHECK(folder.read("out") == "2:b c\n");
  signals.restore();
}

TEST_CASE("a failure of exec is reported instead of the child's status") {
  const TemporaryFolder folder;
  folder.write("not-a-program",
               "\x7f"
               "ELF");
  const std::string path = (folder.path() / "not-a-program").string();
  CHECK(message_of([&] { check_program(path); }) == "cannot run " + path + ": Permission denied");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  CHECK(message_of([&] { check_program(path); }) == "no error");
  const Signals signals;
  Workload workload({folder.path().string() + "/missing"}, signals);
  CHECK(message_of([&] { workload.start(); }) ==
        "cannot run " + folder.path().string() + "/missing: No such file or directory");
}

TEST_CASE("programs are searched for as in a shell") {
  CHECK(message_of([] { check_program("sh"); }) == "no error");
  CHECK(message_of([] { check_program("no-such-program-here"); }) ==
        "cannot run no-such-program-here: No such file or directory");
  CHECK(message_of([] { check_program("/"); }) == "cannot run /: Permission denied");
}

}  // namespace htmtrace
