// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dtl/guard.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "cli/capture/privileges.h"
#include "cli/pipe.h"
#include "core/base/error.h"
#include "ringbuf/mapping.h"

namespace htmtrace {
namespace {

// Waits for a byte, or until the other end is closed.
bool wait_for_byte(int fd) {
  char byte = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd, &byte, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

// A reader sees the end of a pipe only when no process has the pipe open for writing. This process
// therefore closes the pipes of the recorder.
void close_all_except(std::vector<int> kept) {
  std::ranges::sort(kept);
  unsigned first = 0;
  for (const int fd : kept) {
    const auto number = static_cast<unsigned>(fd);
    if (number > first) ::close_range(first, number - 1, 0);
    first = number + 1;
  }
  ::close_range(first, ~0U, 0);
}

}  // namespace

DtlGuard::DtlGuard(std::span<const DtlSource* const> sources) {
  Pipe alive = make_pipe(), ready = make_pipe();
  pid_ = ::fork();
  if (pid_ < 0) throw Error("cannot start the process that guards the events", errno);
  if (pid_ == 0) {
    alive.write.reset();
    ready.read.reset();
    be_guard(sources, alive.read.get(), ready.write.get());
  }
  alive_ = std::move(alive.write);
  ready.write.reset();
  if (wait_for_byte(ready.read.get())) return;
  alive_.reset();
  ::waitpid(pid_, nullptr, 0);
  throw Error("cannot map the rings in the process that guards the events")
      .hint("choose smaller rings with -m");
}

DtlGuard::~DtlGuard() {
  alive_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void DtlGuard::be_guard(std::span<const DtlSource* const> sources, int alive, int ready) {
  // In a session of its own, the guard receives no signals from the terminal.
  ::setsid();
  ::prctl(PR_SET_NAME, "htmtrace-guard");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  std::vector<int> kept = {alive, ready};
  for (const DtlSource* source : sources) kept.push_back(source->event().get());
  close_all_except(std::move(kept));
  std::vector<Mapping> mappings;
  for (const DtlSource* source : sources) {
    const RingSizes sizes = source->ring().sizes();
    const size_t data_bytes = page_size() + sizes.data_bytes;
    mappings.push_back(Mapping::map(source->event().get(), data_bytes, 0));
    if (sizes.aux_bytes != 0) {
      mappings.push_back(Mapping::map(source->event().get(), sizes.aux_bytes, data_bytes));
    }
  }
  for (const Mapping& mapping : mappings) {
    if (!mapping) ::_exit(1);
  }
  // The guard keeps its user: with --user, the workload could otherwise kill the guard, and then
  // the recorder.
  if (set_capabilities({}) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(1);
  if (::write(ready, "", 1) == 1) wait_for_byte(alive);
  for (const DtlSource* source : sources) {
    ::ioctl(source->event().get(), PERF_EVENT_IOC_DISABLE, 0);
  }
  ::_exit(0);
}

}  // namespace htmtrace
