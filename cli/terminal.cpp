// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/terminal.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <map>
#include <string_view>

#include "cli/messages.h"
#include "cli/one_of.h"
#include "cli/pipe.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

bool is_program(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

bool is_found(const std::string& program) {
  if (program.find('/') != std::string::npos) return is_program(program);
  std::string_view folders = variable("PATH");
  while (!folders.empty()) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder(folders.substr(0, end));
    if (is_program((folder.empty() ? "." : folder) + "/" + program)) return true;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return false;
}

// The running pager, for the handler of SIGINT. A signal handler cannot access the Pager object.
std::atomic<pid_t> shown_pager = -1;

// Ctrl-C also interrupts the pager, which then shows the output so far. The command ends when the
// user leaves the pager.
void wait_for_pager(int number) {
  const int reason = errno;
  const pid_t pager = shown_pager;
  if (pager > 0) ::waitpid(pager, nullptr, 0);
  errno = reason;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// Waits for the first byte of output. Returns false if no output follows.
bool any_output(int fd) {
  pollfd output{.fd = fd, .events = POLLIN, .revents = 0};
  while (::poll(&output, 1, -1) < 0 && errno == EINTR) {
  }
  return (output.revents & POLLIN) != 0;
}

// The shell's exit statuses for a program that it cannot execute, and for a program that it cannot
// find (POSIX, Shell Command Language, 2.8.2).
constexpr int kNotExecutable = 126, kNotFound = 127;

[[noreturn]] void run_pager(int output, const std::string& command) {
  if (!any_output(output)) ::_exit(0);
  ::dup2(output, STDIN_FILENO);
  // The options that Git uses: quit if the output fits the screen, show colors, and leave the text
  // on the screen.
  ::setenv("LESS", "FRX", 0);
  ::setenv("LV", "-c", 0);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  ::_exit(127);
}

}  // namespace

void declare_pager(CLI::App& app, TerminalOptions& options) {
  app.add_flag("--no-pager", options.no_pager, "Do not show the output in a pager");
}

void declare_color(CLI::App& app, TerminalOptions& options) {
  static const std::map<std::string, ColorChoice> choices = {{"auto", ColorChoice::kAuto},
                                                             {"always", ColorChoice::kAlways},
                                                             {"never", ColorChoice::kNever}};
  app.add_option("--color", options.color, "Colors: auto, always, never [auto: on a terminal]")
      ->transform(one_of(choices))
      ->type_name("WHEN")
      ->default_str("");
}

bool wants_color(const TerminalOptions& options, int fd) {
  if (options.color != ColorChoice::kAuto) return options.color == ColorChoice::kAlways;
  return is_terminal(fd) && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

std::string pager_command() {
  const bool is_set = std::getenv("PAGER") != nullptr;
  std::string_view words = is_set ? variable("PAGER") : "less";
  words.remove_prefix(std::min(words.find_first_not_of(" \t"), words.size()));
  std::string command(words);
  if (command.empty() || command == "cat") return {};
  const std::string program = command.substr(0, command.find_first_of(" \t"));
  // The shell interprets the rest.
  if (program.find_first_of("\"'$`\\(){};&|<>*?~=") != std::string::npos || is_found(program)) {
    return command;
  }
  if (is_set) print_warning("cannot find the pager " + program, "set PAGER to another program");
  return {};
}

Pager::Pager(bool wanted) {
  if (!wanted || !is_terminal(STDOUT_FILENO)) return;
  command_ = pager_command();
  if (command_.empty()) return;
  Pipe pipe = make_pipe();
  terminal_ = Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!terminal_) throw Error("cannot keep the terminal", errno);
  child_ = ::fork();
  if (child_ < 0) throw Error("cannot start the pager", errno);
  if (child_ == 0) {
    pipe.write.reset();
    run_pager(pipe.read.get(), command_);
  }
  ::dup2(pipe.write.get(), STDOUT_FILENO);
  shown_pager = child_;
  interrupt_ = std::signal(SIGINT, wait_for_pager);
  if (interrupt_ == SIG_IGN) std::signal(SIGINT, SIG_IGN);
}

void Pager::wait() {
  if (child_ <= 0) return;
  ::dup2(terminal_.get(), STDOUT_FILENO);  // the pager sees the end of the output
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  shown_pager = -1;
  std::signal(SIGINT, interrupt_);
  if (!WIFEXITED(status)) return;
  if (WEXITSTATUS(status) != kNotExecutable && WEXITSTATUS(status) != kNotFound) return;
  print_warning(fmt::format("the pager \"{}\" ended with status {}: the output may be missing",
                            command_, WEXITSTATUS(status)),
                "set PAGER to another program, or pass --no-pager");
}

std::optional<size_t> terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace htmtrace
