// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/recorder.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/capture/registry.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/pipe.h"
#include "core/base/error.h"
#include "output/io/text_output.h"

namespace htmtrace {
namespace {

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  throw Error(fmt::format("the recorder was killed by signal {} ({})", WTERMSIG(status),
                          ::strsignal(WTERMSIG(status))));
}

// A script without the ID cannot stop the recorder.
void print_id(std::string_view id, pid_t child) {
  try {
    TextOutput output = TextOutput::standard_output();
    output.put(id);
    output.finish();
  } catch (const Error&) {
    ::kill(child, SIGTERM);
    status_of(child);
    throw;
  }
}

// Waits until the recording has begun or the recorder has ended. The recorder has a session of its
// own, so signals of the terminal reach only this process, which passes them on.
int wait_for_begin(pid_t child, const Fd& begun, Signals& signals) {
  signals.watch();
  std::array<pollfd, 2> arrived{pollfd{begun.get(), POLLIN, 0}, pollfd{signals.fd(), POLLIN, 0}};
  while (true) {
    ::poll(arrived.data(), arrived.size(), -1);
    while (const auto signal = signals.next()) {
      if (signal->number != SIGCHLD) ::kill(child, signal->number);
    }
    if (arrived[0].revents == 0) continue;
    std::array<char, 64> id{};
    const ssize_t got = ::read(begun.get(), id.data(), id.size());
    if (got <= 0) return status_of(child);
    print_id({id.data(), static_cast<size_t>(got)}, child);
    return kExitDone;
  }
}

}  // namespace

int run_recorder(const ScriptOptions& options, const std::filesystem::path& output,
                 Signals& signals, const std::function<int(ReadyNotice&)>& work) {
  ReadyNotice ready(options);
  Fd parent;
  if (options.detach) {
    Pipe begun = make_pipe();
    const pid_t child = ::fork();
    if (child < 0) throw Error("cannot start the recorder", errno);
    if (child != 0) {
      begun.write.reset();
      return wait_for_begin(child, begun.read, signals);
    }
    parent = std::move(begun.write);
    ::setsid();
  }
  std::optional<Registration> registration;
  try {
    registration.emplace(output);
  } catch (const Error&) {
    if (options.detach) throw;  // only htmtrace stop can end such a recorder
  }
  if (options.detach) ready.detach(std::move(parent), registration->fd());
  int status = kExitFailed;
  try {
    status = work(ready);
  } catch (const Error& error) {
    print_error(error);
  }
  if (registration) registration->finish(status, ready.announced());
  return status;
}

}  // namespace htmtrace
