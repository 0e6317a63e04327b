// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"

namespace htmtrace {

Signals::Signals() {
  // A shell starts its background jobs with SIGINT ignored, and an ignored signal never reaches the
  // descriptor; but `kill -INT` is how a recording is ended. nohup's SIGHUP stays ignored.
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGINT, &usual, &old_interrupt_);
  ::sigaction(SIGTERM, &usual, &old_terminate_);
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignored, &old_file_size_);
  ::sigaction(SIGPIPE, &ignored, &old_pipe_);
  ::sigprocmask(SIG_BLOCK, nullptr, &old_mask_);
}

void Signals::watch() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR2}) sigaddset(&wanted, number);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  fd_ = Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw Error("cannot watch signals", errno);
}

// Once watched for, signals stay blocked: what is left to do is to end, and a signal in between
// would end the process with a status that says nothing of what was saved.
Signals::~Signals() {
  if (!fd_) restore();
}

std::optional<Signals::Received> Signals::next() const {
  signalfd_siginfo info{};
  if (::read(fd(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  return Received{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

void Signals::restore() const {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
  ::sigaction(SIGXFSZ, &old_file_size_, nullptr);
  ::sigaction(SIGPIPE, &old_pipe_, nullptr);
  ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

}  // namespace htmtrace
