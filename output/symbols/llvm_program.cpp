// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/symbols/llvm_program.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "core/base/error.h"
#include "core/base/fd.h"

namespace htmtrace {
namespace {

// A file in memory: unlike pipes, such files cannot block two programs that write to each other.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content = {})
      : fd_(::memfd_create("htmtrace", MFD_CLOEXEC)) {
    if (fd_.get() < 0) throw Error("cannot create a file in memory", errno);
    while (!content.empty()) {
      const ssize_t written = ::write(fd_.get(), content.data(), content.size());
      if (written < 0) throw Error("cannot write a file in memory", errno);
      content.remove_prefix(static_cast<size_t>(written));
    }
    ::lseek(fd_.get(), 0, SEEK_SET);
  }

  int fd() const { return fd_.get(); }

  std::string content() const {
    std::string text;
    std::array<char, 1 << 14> piece{};
    for (;;) {
      const ssize_t got =
          ::pread(fd_.get(), piece.data(), piece.size(), static_cast<off_t>(text.size()));
      if (got < 0) throw Error("cannot read a file in memory", errno);
      if (got == 0) return text;
      text.append(piece.data(), static_cast<size_t>(got));
    }
  }

 private:
  Fd fd_;
};

}  // namespace

LlvmRun run_llvm(const char* program, std::vector<std::string> arguments, std::string_view input) {
  const MemoryFile in(input);
  const MemoryFile out;
  const MemoryFile messages;
  std::vector<char*> pointers{const_cast<char*>(program)};
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.fd(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, messages.fd(), STDERR_FILENO);
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, program, &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    Error error(fmt::format("cannot predict cycles: cannot run {}", program), failure);
    if (failure == ENOENT) error = std::move(error).hint("install Debian's package llvm");
    throw error;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw Error(fmt::format("cannot wait for {}", program), errno);
  }
  if (!WIFEXITED(status)) {
    throw Error(
        fmt::format("cannot predict cycles: signal {} ended {}", WTERMSIG(status), program));
  }
  return {.status = WEXITSTATUS(status), .output = out.content(), .messages = messages.content()};
}

}  // namespace htmtrace
