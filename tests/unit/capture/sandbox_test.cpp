// SPDX-License-Identifier: GPL-2.0-or-later
// Tests what a confined process can do. Each test says what the kernel cannot refuse.
#include "cli/sandbox.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cli/traces/reach.h"
#include "output/io/scratch_file.h"
#include "tests/unit/in_child.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

// Exit statuses of a child whose kernel does not support a part of the sandbox.
constexpr int kNoFiles = 250, kNoSystemCalls = 251;

// Returns false, and prints the reason, if the kernel did not confine the child.
bool confined(int status) {
  if (exited_with(status, kNoFiles)) MESSAGE("not tested: this kernel does not have Landlock");
  if (exited_with(status, kNoSystemCalls))
    MESSAGE("not tested: this kernel has no seccomp filters");
  return !exited_with(status, kNoFiles) && !exited_with(status, kNoSystemCalls);
}

bool opens(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

bool refused(int result, int reason) {
  return result == -1 && errno == reason;
}

struct Folders {
  TemporaryFolder inputs, outputs, others;

  std::string input(const char* name) const { return (inputs.path() / name).string(); }
  std::string output(const char* name) const { return (outputs.path() / name).string(); }
  std::string other(const char* name) const { return (others.path() / name).string(); }
};

}  // namespace

TEST_CASE("a confined process reads its inputs, and writes its output and no other file") {
  const Folders folders;
  folders.inputs.write("in", "x");
  folders.inputs.write("beside", "x");
  folders.others.write("file", "x");
  const int status = in_child([&] {
    const int open_before = ::open(folders.other("file").c_str(), O_RDWR);
    const Reach reach{.files = {folders.input("in")}, .outputs = {folders.output("out")}};
    if (!enter_sandbox(reach).files) return kNoFiles;
    if (!opens(folders.input("in"), O_RDONLY)) return 1;
    if (opens(folders.input("in"), O_WRONLY)) return 2;
    if (opens(folders.input("beside"), O_RDONLY)) return 3;
    if (opens(folders.other("file"), O_RDONLY)) return 4;
    if (opens(folders.other("new"), O_WRONLY | O_CREAT)) return 5;
    if (opens("/etc/passwd", O_RDONLY)) return 6;
    // An output may have a temporary name, or none, before it replaces an old file.
    if (!opens(folders.output("temporary"), O_RDWR | O_CREAT | O_EXCL)) return 7;
    if (::rename(folders.output("temporary").c_str(), folders.output("out").c_str()) != 0) return 8;
    const int unnamed = ::open(folders.outputs.path().c_str(), O_TMPFILE | O_RDWR, 0600);
    if (unnamed < 0 && errno != EOPNOTSUPP) return 9;
    const std::string link = "/proc/self/fd/" + std::to_string(unnamed);
    if (unnamed >= 0 && ::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, folders.output("linked").c_str(),
                                 AT_SYMLINK_FOLLOW) != 0) {
      return 10;
    }
    if (!opens(folders.output("out"), O_WRONLY | O_TRUNC)) return 11;
    if (::unlink(folders.output("out").c_str()) != 0) return 12;
    if (::mkdir(folders.output("folder").c_str(), 0700) == 0) return 13;
    if (::symlink("/etc", folders.output("symlink").c_str()) == 0) return 14;
    if (::unlink(folders.other("file").c_str()) == 0) return 15;
    if (::rename(folders.input("in").c_str(), folders.output("in").c_str()) == 0) return 16;
    char byte = 'y';
    return ::pwrite(open_before, &byte, 1, 0) == 1 ? 0 : 17;
  });
  if (!confined(status)) return;
  CHECK(exited_with(status, 0));
  CHECK(folders.others.read("file") == "y");
}

TEST_CASE("a confined process creates the folder of its output, and its temporary file") {
  const Folders folders;
  const int status = in_child([&] {
    ::setenv("TMPDIR", folders.others.path().c_str(), 1);
    const Reach reach{.output_folders = {folders.output("new/parts")}, .scratch = true};
    if (!enter_sandbox(reach).files) return kNoFiles;
    std::filesystem::create_directories(folders.output("new/parts/one"));
    if (!opens(folders.output("new/parts/one/file"), O_WRONLY | O_CREAT | O_EXCL)) return 1;
    const ScratchFile scratch;
    return opens(scratch.path(), O_RDONLY) ? 0 : 2;
  });
  if (confined(status)) CHECK(exited_with(status, 0));
}

TEST_CASE("a device as an output is written, and its folder stays closed") {
  const int status = in_child([] {
    if (!enter_sandbox({.outputs = {"/dev/full"}}).files) return kNoFiles;
    if (!opens("/dev/full", O_WRONLY)) return 1;
    return opens("/dev/zero", O_RDONLY) ? 2 : 0;
  });
  if (confined(status)) CHECK(exited_with(status, 0));
}

TEST_CASE("a confined process has no network, and starts and traces no program") {
  const pid_t other = ::fork();
  if (other == 0) {
    for (;;) ::pause();
  }
  const int status = in_child([&] {
    const int before = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (!enter_sandbox({}).system_calls) return kNoSystemCalls;
    for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}) {
      if (!refused(::socket(family, SOCK_DGRAM, 0), EPERM)) return 1;
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (!refused(::connect(before, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
                 EPERM)) {
      return 2;
    }
    if (!refused(::execl("/bin/true", "true", nullptr), EPERM)) return 3;
    if (!refused(::kill(other, SIGTERM), EPERM)) return 4;
    if (!refused(::chmod("/tmp", 01777), EPERM)) return 5;
    if (!refused(static_cast<int>(::ptrace(PTRACE_ATTACH, other, nullptr, nullptr)), EPERM)) {
      return 6;
    }
    std::thread([] {}).join();
    return 0;
  });
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  if (confined(status)) CHECK(exited_with(status, 0));
}

TEST_CASE("a trace file reaches the files of its recording, and a link only to such a file") {
  const Folders folders;
  folders.inputs.write("htm.bin.n0.p1.c4", "x");
  folders.inputs.write("htm.bin.n0.p1.c4.index", "x");
  folders.inputs.write("translation.n0.p1.c4", "x");
  folders.inputs.write("manifest.json", "x");
  folders.inputs.write("private", "x");
  folders.others.write("secret", "x");
  folders.others.write("trace", "x");
  std::filesystem::create_symlink(folders.other("trace"), folders.input("htm.bin.n0.p1.c8"));
  std::filesystem::create_symlink(folders.other("secret"), folders.input("link"));
  const auto reads = [&](const std::string& path, const std::vector<std::string>& names) {
    const int status = in_child([&] {
      if (!enter_sandbox(reach_of({path})).files) return kNoFiles;
      int wrong = 0;
      for (const std::string& name : names) {
        const bool wanted = name != "link" && (path == folders.input("") || name != "private");
        if (opens(folders.input("") + name, O_RDONLY) != wanted) wrong++;
      }
      return wrong;
    });
    return !confined(status) || exited_with(status, 0);
  };
  const std::vector<std::string> names = {
      "htm.bin.n0.p1.c4", "htm.bin.n0.p1.c4.index", "translation.n0.p1.c4",
      "manifest.json",    "htm.bin.n0.p1.c8",       "link",
      "private"};
  CHECK(reads(folders.input("htm.bin.n0.p1.c4"), names));
  CHECK(reads(folders.input(""), names));
}

}  // namespace htmtrace
