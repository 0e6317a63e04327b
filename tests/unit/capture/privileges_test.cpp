// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which privileges a recorder and its workload have after the recorder has given up its own.
#include "cli/capture/privileges.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "cli/capture/identity.h"
#include "cli/capture/user_option.h"
#include "cli/capture/workload.h"
#include "cli/syscall_filter.h"
#include "core/base/error.h"
#include "output/io/new_file.h"
#include "tests/unit/in_child.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

// The field of a status file, with its words separated by one space.
std::string status_field(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + ":")) continue;
    std::istringstream words(line.substr(name.size() + 1));
    std::string all;
    for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
    return all;
  }
  return "none";
}

std::string own_status() {
  std::ifstream file("/proc/self/status");
  return {std::istreambuf_iterator<char>(file), {}};
}

uint64_t mask_in(const std::string& text, const std::string& name) {
  return std::stoull(status_field(text, name), nullptr, 16);
}

// nobody is in the user database of every distribution. Emulated programs share the database, but
// not all calls.
bool can_become_nobody() {
#ifdef HTMTRACE_EMULATED
  MESSAGE("not tested: becoming another user, under emulation");
  return false;
#else
  if (::geteuid() == 0) return true;
  MESSAGE("not tested: becoming another user, which requires root");
  return false;
#endif
}

std::string run_as(const std::optional<Identity>& user, const std::string& script,
                   const TemporaryFolder& folder) {
  const Signals signals;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  Workload workload({"sh", "-c", "exec >" + (folder.path() / "out").string() + "\n" + script},
                    signals, /*to_stderr=*/false, user);
  workload.start();
  workload.wait_end();
  CHECK(workload.exit_status() == 0);
  return folder.read("out");
}

}  // namespace

TEST_CASE("a recorder needs few capabilities after its events are open") {
  // linux/capability.h: 1 CAP_DAC_OVERRIDE, 5 CAP_KILL, 19 CAP_SYS_PTRACE, 21 CAP_SYS_ADMIN.
  CHECK(needed_for({}).bits == 0x2);
  CHECK(needed_for({.workload = true}).bits == 0x22);
  CHECK(needed_for({.other_processes = true}).bits == 0x80002);
  CHECK(needed_for({.workload = true, .other_processes = true, .frame_numbers = true}).bits ==
        0x280022);
}

#ifndef HTMTRACE_EMULATED
TEST_CASE("a recorder gives up all other capabilities for good") {
  const uint64_t before = mask_in(own_status(), "CapPrm");
  // Nothing gives privileges back.
  CHECK(exited_with(
      in_child([&] {
        give_up_privileges({}, {.workload = true});
        const std::string status = own_status();
        if (mask_in(status, "CapPrm") != (before & 0x22)) return 1;
        if (mask_in(status, "CapEff") != (before & 0x22)) return 2;
        if (mask_in(status, "CapInh") != 0 || mask_in(status, "CapAmb") != 0) return 3;
        if (status_field(status, "NoNewPrivs") != "1") return 4;
        // A new program of root would have all capabilities, without no_new_privs.
        ::execl("/bin/sh", "sh", "-c",
                "test $((0x$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status) & ~0x22)) = 0",
                nullptr);
        return 5;
      }),
      0));
}

TEST_CASE("the workload keeps the privileges that the recorder gives up") {
  const TemporaryFolder folder;
  const std::string before = status_field(own_status(), "CapPrm");
  CHECK(exited_with(
      in_child([&] {
        const Signals signals;
        Workload workload(
            {"sh", "-c", "cat /proc/self/status >" + (folder.path() / "out").string()}, signals);
        give_up_privileges({}, {.workload = true});
        workload.start();
        workload.wait_end();
        return workload.exit_status().value_or(9);
      }),
      0));
  CHECK(status_field(folder.read("out"), "CapPrm") == before);
  CHECK(status_field(folder.read("out"), "NoNewPrivs") == "0");
}
#endif

TEST_CASE("--user requires another user that exists") {
  CHECK(message_of([] { find_identity("no-such-user"); }) == "cannot find user no-such-user");
  CHECK(message_of([] { find_identity("4294967294"); }) == "cannot find user 4294967294");
  CHECK(message_of([] { find_identity("root"); }) ==
        "cannot give up root for user root: this user is root");
  CHECK(message_of([] { find_identity("0"); }) ==
        "cannot give up root for user 0: this user is root");
  if (::geteuid() != 0) {
    CHECK(message_of([] { find_identity("nobody"); }) ==
          "cannot become user nobody: Operation not permitted");
  }
}

TEST_CASE("with --user, a recorder is that user and cannot be root again") {
  if (!can_become_nobody()) return;
  const Identity nobody = find_identity("nobody");
  const std::string id = std::to_string(nobody.uid), group = std::to_string(nobody.gid);
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  CHECK(exited_with(in_child([&] {
                      ::prctl(PR_SET_KEEPCAPS, 1);  // must not help
                      give_up_privileges(nobody, {.workload = true, .other_processes = true});
                      const std::string status = own_status();
                      if (status_field(status, "Uid") != id + " " + id + " " + id + " " + id)
                        return 1;
                      if (status_field(status, "Gid") !=
                          group + " " + group + " " + group + " " + group) {
                        return 2;
                      }
                      if (status_field(status, "Groups") != group) return 3;
                      if (mask_in(status, "CapPrm") != 0 || mask_in(status, "CapEff") != 0)
                        return 4;
                      if (status_field(status, "NoNewPrivs") != "1") return 5;
                      // A descriptor of an event would give the user the trace of the whole core.
                      if (::prctl(PR_GET_DUMPABLE) != 0) return 6;
                      if (::setuid(0) == 0 || ::setgid(0) == 0 || ::setgroups(0, nullptr) == 0)
                        return 7;
                      // The output gets its name through /proc/self/fd, which belongs to root now.
                      return NewFile::create(folder.path() / "file", Existing::kRefuse).finish();
                    }),
                    0));
  struct stat facts {};
  REQUIRE(::stat((folder.path() / "file").c_str(), &facts) == 0);
  CHECK(facts.st_uid == nobody.uid);
  CHECK(facts.st_gid == nobody.gid);
}

TEST_CASE("paths are checked with the user's permissions, and root comes back afterward") {
  if (!can_become_nobody()) return;
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  const std::optional<Identity> nobody = find_identity("nobody");
  const std::string before = own_status();
  const std::string inside = (folder.path() / "inside").string();
  as_user(nobody, [&] {
    CHECK(::access(folder.path().c_str(), W_OK) != 0);
    CHECK(::open(inside.c_str(), O_WRONLY | O_CREAT, 0600) < 0);
    CHECK(::geteuid() == nobody->uid);
  });
  for (const char* field : {"Uid", "Gid", "Groups", "CapEff", "CapPrm"}) {
    CHECK(status_field(own_status(), field) == status_field(before, field));
  }
  CHECK(::access(folder.path().c_str(), W_OK) == 0);
  const auto failing = [&] { as_user(nobody, [] { throw Error("cannot do this"); }); };
  CHECK(message_of(failing) == "cannot do this");
  CHECK(status_field(own_status(), "Uid") == status_field(before, "Uid"));
  ::prctl(PR_SET_DUMPABLE, 1);
}

TEST_CASE("with --user, the workload has the user's identity and nothing of root's") {
  if (!can_become_nobody()) return;
  const TemporaryFolder folder;
  const Identity nobody = find_identity("nobody");
  // A descriptor that a careless caller passes on to htmtrace.
  const int inherited = ::open("/etc/passwd", O_RDONLY);
  const std::string out =
      run_as(nobody,
             "cat /proc/self/status; echo Home: $HOME; echo Names: $USER "
             "$LOGNAME $SHELL; echo Inherited: $(readlink /proc/$$/fd/* | grep -c "
             "/etc/passwd)",
             folder);
  const std::string without =
      run_as({}, "echo Inherited: $(readlink /proc/$$/fd/* | grep -c /etc/passwd)", folder);
  ::close(inherited);
  const std::string id = std::to_string(nobody.uid), group = std::to_string(nobody.gid);
  CHECK(status_field(out, "Uid") == id + " " + id + " " + id + " " + id);
  CHECK(status_field(out, "Gid") == group + " " + group + " " + group + " " + group);
  CHECK(status_field(out, "Groups") == group);
  for (const char* field : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
    CHECK(mask_in(out, field) == 0);
  // Programs such as sudo still work for the user.
  CHECK(status_field(out, "NoNewPrivs") == "0");
  CHECK(status_field(out, "Home") == nobody.home);
  CHECK(status_field(out, "Names") == "nobody nobody " + nobody.shell);
  CHECK(status_field(out, "Inherited") == "0");
  CHECK(status_field(without, "Inherited") == "1");
}

#ifndef HTMTRACE_EMULATED
TEST_CASE("a filter refuses the given calls and requests, and no others") {
  const int status = in_child([] {
    SyscallFilter filter;
    filter.refuse({SYS_getpgid});
    filter.refuse_ioctl({TIOCGWINSZ});
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (const int reason = filter.install(); reason != 0) return reason;
    if (::syscall(SYS_getpgid, 0) != -1 || errno != EPERM) return 200;
    if (::getpid() <= 0) return 201;
    winsize size{};
    int bytes = 0;
    const int null = ::open("/dev/null", O_RDONLY);
    if (::ioctl(null, TIOCGWINSZ, &size) != -1 || errno != EPERM) return 202;
    if (::ioctl(null, FIONREAD, &bytes) != -1 || errno != ENOTTY) return 203;
    return 0;
  });
  if (exited_with(status, EINVAL)) {
    MESSAGE("not tested: this kernel has no seccomp filters");
    return;
  }
  CHECK(exited_with(status, 0));
}

TEST_CASE("with --user, the workload cannot type into the terminal") {
  if (!can_become_nobody()) return;
  // The exit status is the errno of the attempt, or 0.
  const auto type_as = [](const std::optional<Identity>& user) {
    return in_child([&] {
      const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
      if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) return 100;
      ::setsid();
      const int terminal = ::open(::ptsname(master), O_RDWR);
      if (terminal < 0 || ::dup2(terminal, STDIN_FILENO) != STDIN_FILENO) return 101;
      const Signals signals;
      Workload workload(
          {"perl", "-e",
           "my $c = \"x\"; exit(ioctl(STDIN, " + std::to_string(TIOCSTI) + ", $c) ? 0 : $!)"},
          signals, /*to_stderr=*/false, user);
      workload.start();
      workload.wait_end();
      return workload.exit_status().value_or(102);
    });
  };
  if (const int status = type_as({}); !exited_with(status, 0)) {
    MESSAGE("not tested: typing fails here also without --user, status ", status);
    return;
  }
  CHECK(exited_with(type_as(find_identity("nobody")), EPERM));
}
#endif

}  // namespace htmtrace
