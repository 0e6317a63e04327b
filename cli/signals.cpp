// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "core/base/error.h"

namespace htmtrace {
namespace {

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};

// A signal handler can reach only globals. Only Impatient uses these.
volatile std::sig_atomic_t first_number = 0;
volatile std::sig_atomic_t first_from_terminal = 0;

void say_from_handler(std::string_view text) {
  // A write error is ignored: no reader may be left.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

void set_action(int number, void (*action)(int), struct sigaction* old = nullptr) {
  struct sigaction wanted {};
  wanted.sa_handler = action;
  ::sigaction(number, &wanted, old);
}

// Uses only the functions that signal-safety(7) allows.
void note_first(int number, siginfo_t* info, void* /*context*/) {
  const int saved_errno = errno;
  first_number = number;
  first_from_terminal = info->si_code == SI_KERNEL ? 1 : 0;
  for (const int each : kEnding) set_action(each, SIG_DFL);
  say_from_handler("htmtrace: ");
  say_from_handler(signal_name(number));
  say_from_handler(": ends the recording; another signal ends htmtrace at once\n");
  errno = saved_errno;
}

}  // namespace

const char* signal_name(int number) {
  switch (number) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    case SIGUSR2:
      return "SIGUSR2";
    default:
      return "a signal";
  }
}

std::string unstarted_because(int number) {
  return std::string(signal_name(number)) + " ended the recording before it started";
}

Signals::Signals() {
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  hangup_ignored_ = hangup.sa_handler == SIG_IGN;
  sigset_t held;
  sigemptyset(&held);
  for (const int number : {SIGINT, SIGTERM, SIGUSR2}) sigaddset(&held, number);
  if (!hangup_ignored_) sigaddset(&held, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &held, &old_mask_);
  // A shell without job control starts its background jobs with SIGINT ignored,
  // but users end a recording with `kill -INT`. Setting the default action
  // does not discard a blocked signal.
  set_action(SIGINT, SIG_DFL, &old_interrupt_);
  set_action(SIGTERM, SIG_DFL, &old_terminate_);
  // With SIGCHLD ignored, the kernel keeps no exit status of a workload.
  set_action(SIGCHLD, SIG_DFL, &old_child_);
  set_action(SIGXFSZ, SIG_IGN, &old_file_size_);
  set_action(SIGPIPE, SIG_IGN, &old_pipe_);
}

// After watch(), signals stay blocked: the process is about to end, and a signal
// now would replace the exit status that describes the saved recording.
Signals::~Signals() {
  if (!fd_) release();
}

void Signals::release() const {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
  ::sigaction(SIGCHLD, &old_child_, nullptr);
  ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

void Signals::watch() {
  if (fd_) return;
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : {SIGINT, SIGTERM, SIGUSR2, SIGCHLD}) sigaddset(&wanted, number);
  if (!hangup_ignored_) sigaddset(&wanted, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  fd_ = Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw Error("cannot watch signals", errno);
}

std::optional<Signals::Received> Signals::next() {
  if (early_) return std::exchange(early_, std::nullopt);
  signalfd_siginfo info{};
  if (::read(fd(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  return Received{.number = static_cast<int>(info.ssi_signo),
                  .from_terminal = info.ssi_code == SI_KERNEL,
                  .of_stop = info.ssi_code == SI_QUEUE && info.ssi_int == kStopValue};
}

void Signals::restore() const {
  ::sigaction(SIGCHLD, &old_child_, nullptr);
  ::sigaction(SIGXFSZ, &old_file_size_, nullptr);
  ::sigaction(SIGPIPE, &old_pipe_, nullptr);
  ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

Signals::Impatient::Impatient(Signals& signals) : signals_(signals) {
  first_number = 0;
  struct sigaction noting {};
  noting.sa_sigaction = note_first;
  noting.sa_flags = SA_SIGINFO | SA_RESTART;
  sigset_t ending;
  sigemptyset(&ending);
  for (const int number : kEnding) {
    if (number != SIGHUP || !signals_.hangup_ignored_) sigaddset(&ending, number);
  }
  noting.sa_mask = ending;
  for (const int number : kEnding) {
    if (sigismember(&ending, number) == 1) ::sigaction(number, &noting, nullptr);
  }
  ::sigprocmask(SIG_UNBLOCK, &ending, nullptr);
}

Signals::Impatient::~Impatient() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int number : kEnding) sigaddset(&ending, number);
  if (signals_.hangup_ignored_) sigdelset(&ending, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &ending, nullptr);
  for (const int number : kEnding) {
    if (sigismember(&ending, number) == 1) set_action(number, SIG_DFL);
  }
  if (first_number != 0) {
    signals_.early_ = {.number = first_number, .from_terminal = first_from_terminal != 0};
  }
}

}  // namespace htmtrace
