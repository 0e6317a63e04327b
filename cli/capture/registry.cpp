// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/registry.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/capture/private_folder.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

constexpr const char* kCannotRegister = "cannot register the recorder";
constexpr time_t kKeptSeconds = time_t{24} * 60 * 60;

bool is_id(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<std::string> ids_in(const Fd& folder) {
  std::vector<std::string> ids;
  const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(copy < 0 ? nullptr : ::fdopendir(copy),
                                                    ::closedir);
  if (!entries) return ids;
  while (const dirent* entry = ::readdir(entries.get())) {
    if (is_id(entry->d_name)) ids.emplace_back(entry->d_name);
  }
  return ids;
}

Fd open_file(const Fd& folder, const std::string& id) {
  return Fd(::openat(folder.get(), id.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

// Returns the process that holds the lock: 0 if none does, and -1 if it is not visible here.
pid_t holder_of(const Fd& file) {
  struct flock lock {};
  lock.l_type = F_RDLCK;  // conflicts with the recorder's lock
  lock.l_whence = SEEK_SET;
  if (::fcntl(file.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid > 0 ? lock.l_pid : -1;
}

// Removes the files of recorders that ended long ago.
void remove_old(const Fd& folder) {
  for (const std::string& id : ids_in(folder)) {
    const Fd file = open_file(folder, id);
    struct stat facts {};
    if (!file || holder_of(file) != 0 || ::fstat(file.get(), &facts) != 0) continue;
    if (facts.st_mtime < ::time(nullptr) - kKeptSeconds) ::unlinkat(folder.get(), id.c_str(), 0);
  }
}

bool append(int fd, const std::string& text) {
  return ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Splits the content of the file at NUL characters.
std::vector<std::string> parts_of(const Fd& file) {
  std::vector<std::string> parts(1);
  std::array<char, 4096> piece{};
  off_t position = 0;
  ssize_t got = 0;
  while ((got = ::pread(file.get(), piece.data(), piece.size(), position)) > 0) {
    position += got;
    for (const char each : std::string_view(piece.data(), static_cast<size_t>(got))) {
      if (each != '\0') {
        parts.back() += each;
      } else {
        parts.emplace_back();
      }
    }
  }
  return parts;
}

RecorderEnd end_in(const Fd& file) {
  const std::vector<std::string> parts = parts_of(file);
  RecorderEnd end;
  if (parts.size() > 1) end.messages = parts[1];
  if (parts.size() < 3) return end;
  int status = 0;
  const char* const last = parts[2].data() + parts[2].size();
  if (std::from_chars(parts[2].data(), last, status).ec == std::errc{}) end.status = status;
  return end;
}

}  // namespace

std::string absolute_path(const std::filesystem::path& path) {
  std::error_code failure;
  const auto absolute = std::filesystem::absolute(path, failure);
  return std::filesystem::weakly_canonical(absolute, failure).string();
}

Registration::Registration(const std::filesystem::path& output)
    : id_(std::to_string(::getpid())), folder_(make_private_folder(kCannotRegister)) {
  remove_old(folder_);
  // A file of this name belongs to a recorder that has ended, or to another PID namespace.
  if (const Fd earlier = open_file(folder_, id_)) {
    if (holder_of(earlier) != 0)
      throw Error(std::string(kCannotRegister) + ": a recorder in another container has the ID " +
                  id_);
    ::unlinkat(folder_.get(), id_.c_str(), 0);
  }
  const int how = O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
  file_ = Fd(::openat(folder_.get(), id_.c_str(), how, S_IRUSR | S_IWUSR));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const std::string path = output.empty() ? "" : absolute_path(output);
  if (!file_ || ::fcntl(file_.get(), F_SETLK, &lock) != 0 || !append(file_.get(), path + '\0')) {
    throw Error(kCannotRegister, errno);
  }
}

void Registration::finish(int status, bool begun) const {
  [[maybe_unused]] const bool told = append(file_.get(), '\0' + std::to_string(status));
  if (!begun) ::unlinkat(folder_.get(), id_.c_str(), 0);
}

Recorder::Recorder(std::string id, std::string output, Fd file)
    : id_(std::move(id)), output_(std::move(output)), file_(std::move(file)) {
  struct stat facts {};
  if (::fstat(file_.get(), &facts) == 0) changed_ = facts.st_mtime;
  const pid_t holder = holder_of(file_);
  if (holder != 0) {
    state_ = holder < 0 ? State::kElsewhere : State::kRunning;
    return;
  }
  // A user can have more ended recorders than a process can have open files.
  end_ = end_in(file_);
  file_.reset();
}

std::string Recorder::describe() const {
  return output_.empty() ? id_ : fmt::format("{} ({})", id_, output_);
}

Fd Recorder::process() const {
  if (!file_) return {};
  const pid_t holder = holder_of(file_);
  if (holder == 0) return {};
  if (holder < 0) {
    throw Error("cannot find the process of recorder " + describe())
        .hint("run htmtrace stop where the recorder was started: it is in another container");
  }
  Fd process(static_cast<int>(::syscall(SYS_pidfd_open, holder, 0)));
  // The recorder may have ended after the first check, and its ID may belong to another process.
  // While the recorder holds the lock, the ID is its own.
  if (holder_of(file_) != holder) return {};
  if (!process) throw Error("cannot reach recorder " + describe(), errno);
  return process;
}

RecorderEnd Recorder::end() const {
  return file_ ? end_in(file_) : end_;
}

std::vector<Recorder> find_recorders() {
  std::vector<Recorder> found;
  for (const Fd& folder : open_private_folders()) {
    for (std::string& id : ids_in(folder)) {
      Fd file = open_file(folder, id);
      if (!file && errno == ENOENT) continue;  // removed meanwhile
      if (!file) throw Error("cannot read the file of recorder " + id, errno);
      std::vector<std::string> parts = parts_of(file);
      // This recorder has not finished its registration.
      if (parts.size() < 2) continue;
      found.emplace_back(std::move(id), std::move(parts.front()), std::move(file));
    }
  }
  std::ranges::sort(found, {}, &Recorder::changed);
  return found;
}

}  // namespace htmtrace
