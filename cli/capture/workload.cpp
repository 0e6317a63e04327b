// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/workload.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "cli/affinity.h"
#include "cli/syscall_filter.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

// The time in which a workload must end after a request.
constexpr std::chrono::seconds kGrace{5};

Error cannot_run(const std::string& program, int reason) {
  return {fmt::format("cannot run {}", program), reason};
}

// Returns 0 if `path` is an executable file.
int why_not_runnable(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return errno;
  if (!S_ISREG(facts.st_mode)) return EACCES;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

// What the child writes if it cannot execute the command.
struct ChildFailure {
  int reason;
  bool as_user;  // it could not become the user
};

// Requests of ioctl(2) that type into a terminal, as if its user had typed: a program could so
// leave commands to a root shell. Without filters, the child leaves the terminal's session.
void forbid_typing() {
  const Fd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!terminal) return;
  SyscallFilter filter;
  filter.refuse_ioctl({TIOCSTI, TIOCLINUX});
  if (filter.install() != 0) ::setsid();
}

// Returns 0 or an errno value.
int enter_user(const Identity& user) {
  forbid_typing();  // needs CAP_SYS_ADMIN, because the command may gain privileges
  if (const int reason = become(user); reason != 0) return reason;
  set_environment(user);
  // The parent may have inherited descriptors that are not for this user.
  return ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0 ? 0 : errno;
}

}  // namespace

void check_program(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    const int reason = why_not_runnable(program);
    if (reason != 0) throw cannot_run(program, reason);
    return;
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/bin:/usr/bin");
  folders.exceptions(std::ios::badbit);  // out of memory
  int reason = ENOENT;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const int why = why_not_runnable((folder.empty() ? "." : folder) + "/" + program);
    if (why == 0) return;
    if (why == EACCES) reason = EACCES;
  }
  throw cannot_run(program, reason);
}

Workload::Workload(std::vector<std::string> command, const Signals& signals, bool to_stderr,
                   std::optional<Identity> user)
    : command_(std::move(command)), to_stderr_(to_stderr), user_(std::move(user)) {
  pid_ = ::fork();
  if (pid_ < 0) throw cannot_run(command_.front(), errno);
  if (pid_ == 0) be_child(signals);
  go_.read.reset();
  error_.write.reset();
}

Workload::~Workload() {
  if (started_) return;
  go_.write.reset();
  wait_end();
}

void Workload::be_child(const Signals& signals) {
  go_.write.reset();  // otherwise the child never sees that the parent closed its end
  char byte = 0;
  ssize_t got = 0;
  do {
    got = ::read(go_.read.get(), &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got < 0) fail_in_child(false, errno);
  if (got == 0) ::_exit(0);
  std::vector<char*> arguments;
  for (std::string& word : command_) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  if (to_stderr_) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  if (user_) {
    if (const int reason = enter_user(*user_); reason != 0) fail_in_child(true, reason);
  }
  signals.restore();
  ::execvp(arguments[0], arguments.data());
  fail_in_child(false, errno);
}

void Workload::fail_in_child(bool as_user, int reason) const {
  const ChildFailure failure{reason, as_user};
  if (::write(error_.write.get(), &failure, sizeof(failure)) < 0) ::_exit(126);
  ::_exit(127);
}

void Workload::bind(const std::vector<int>& cpus) const {
  const int reason = bind_to_cpus(pid_, cpus);
  if (reason == 0) return;
  throw Error(fmt::format("cannot bind {} to the chosen CPUs", command_.front()), reason)
      .hint("choose CPUs that this process may use (taskset -p shows them)");
}

void Workload::start() {
  started_ = true;
  ChildFailure failure{::write(go_.write.get(), "", 1) == 1 ? 0 : errno, false};
  go_.write.reset();
  // If the child reports a reason, use it instead of EPIPE from the write.
  ChildFailure reported{};
  if (::read(error_.read.get(), &reported, sizeof(reported)) == sizeof(reported)) {
    failure = reported;
  }
  if (failure.reason == 0) return;
  wait_end();
  if (!failure.as_user) throw cannot_run(command_.front(), failure.reason);
  throw Error(fmt::format("cannot run {} as user {}", command_.front(), user_->name),
              failure.reason);
}

bool Workload::ended() {
  if (!exit_status_ && !killed_by_) reap(WNOHANG);
  return exit_status_ || killed_by_;
}

void Workload::wait_end() {
  if (!exit_status_ && !killed_by_) reap(0);
}

void Workload::reap(int options) {
  int status = 0;
  pid_t who = 0;
  do {
    who = ::waitpid(pid_, &status, options);
  } while (who < 0 && errno == EINTR);
  if (who != pid_) return;
  if (WIFEXITED(status)) exit_status_ = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) killed_by_ = WTERMSIG(status);
}

bool Workload::send(int signal) const {
  if (!started_ || exit_status_ || killed_by_) return true;
  return ::kill(pid_, signal) == 0 || errno != EPERM;
}

void Workload::pass_on(const Signals::Received& signal) {
  asked_with_ = signal.number;
  if (!signal.from_terminal) send(signal.number);
}

std::string Workload::end(const Signals& signals, const std::function<bool()>& cut_short) {
  if (!started_ || ended()) return {};
  if (!asked_with_) pass_on({.number = SIGTERM, .from_terminal = false});
  const auto give_up = std::chrono::steady_clock::now() + kGrace;
  while (!ended() && std::chrono::steady_clock::now() < give_up) {
    pollfd query{signals.fd(), POLLIN, 0};
    ::poll(&query, 1, 100);
    if (cut_short()) break;
  }
  if (ended()) return {};
  asked_with_ = SIGKILL;
  if (!send(SIGKILL)) {
    return fmt::format("{} did not end, and htmtrace may not kill it: it runs on",
                       command_.front());
  }
  wait_end();
  return fmt::format("{} did not end; killed it", command_.front());
}

}  // namespace htmtrace
