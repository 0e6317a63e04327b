// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/ready_notice.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "cli/capture/inherited_fd.h"
#include "cli/messages.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

// Does not wait for a reader. Returns 0 or errno.
int write_at_once(int fd, const std::string& text) {
  pollfd room{fd, POLLOUT, 0};
  if (::poll(&room, 1, 0) != 1) return EAGAIN;
  const ssize_t written = ::write(fd, text.data(), text.size());
  if (written < 0) return errno;
  return static_cast<size_t>(written) == text.size() ? 0 : EAGAIN;
}

}  // namespace

ReadyNotice::ReadyNotice(const ScriptOptions& options) : options_(options) {
  if (options.ready_fd) {
    fd_ = take_inherited_fd(*options.ready_fd, "--ready-fd");
    if ((::fcntl(fd_.get(), F_GETFL) & O_ACCMODE) == O_RDONLY) {
      throw Error(fmt::format("cannot use file descriptor {} for --ready-fd: not open for writing",
                              fd_.get()))
          .hint(fmt::format("open it in the shell: {}>FILE", fd_.get()));
    }
  }
  refuse_existing_file();
}

ReadyNotice::~ReadyNotice() {
  const int reason = file_ ? file_->discard() : 0;
  if (reason == 0) return;
  try {
    print_warning(
        fmt::format("cannot remove {}: {}", options_.ready_file.string(), std::strerror(reason)),
        "remove it: the trace that it announces has ended");
  } catch (const std::bad_alloc&) {
    print_out_of_memory();
  }
}

// A file of an earlier recorder would tell a script too early that tracing has begun.
void ReadyNotice::refuse_existing_file() const {
  struct stat facts {};
  if (options_.ready_file.empty() || ::lstat(options_.ready_file.c_str(), &facts) != 0) return;
  throw Error("cannot create " + options_.ready_file.string(), EEXIST)
      .hint("remove it first, or choose another name with --ready-file");
}

void ReadyNotice::prepare() {
  if (options_.ready_file.empty()) return;
  refuse_existing_file();
  file_.emplace(NewFile::create(options_.ready_file, Existing::kRefuse));
}

void ReadyNotice::detach(Fd parent, int messages) {
  parent_ = std::move(parent);
  messages_ = messages;
}

// A script that reads a stream to its end must not wait for the recorder.
void ReadyNotice::leave_terminal() {
  const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) throw Error("cannot open /dev/null", errno);
  ::dup2(nothing.get(), STDIN_FILENO);
  ::dup2(nothing.get(), STDOUT_FILENO);
  struct stat facts {};
  const bool is_file = ::fstat(STDERR_FILENO, &facts) == 0 && S_ISREG(facts.st_mode);
  if (!is_file) ::dup2(messages_, STDERR_FILENO);
}

// The line holds the recorder's process ID: under sudo, the shell's $! is another process.
void ReadyNotice::announce() {
  const std::string line = fmt::format("{}\n", ::getpid());
  if (file_) {
    int reason = write_at_once(file_->fd(), line);
    if (reason == 0) reason = file_->publish();
    if (reason != 0) throw Error("cannot create " + options_.ready_file.string(), reason);
  }
  announced_ = true;
  if (!options_.quiet) print_note("recording");
  if (fd_) {
    const int reason = write_at_once(fd_.get(), line);
    fd_.reset();
    // A reader that still waits now sees the end of the file.
    if (reason != 0) {
      print_warning(fmt::format("cannot write to file descriptor {} of --ready-fd: {}",
                                *options_.ready_fd, std::strerror(reason)));
    }
  }
  if (!parent_) return;
  leave_terminal();
  write_at_once(parent_.get(), line);
  parent_.reset();
}

}  // namespace htmtrace
