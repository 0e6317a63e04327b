// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/new_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/base/error.h"

namespace htmtrace {
namespace {

constexpr mode_t kPrivate = S_IRUSR | S_IWUSR;
mode_t file_mode = kPrivate;

mode_t folder_mode() {
  const mode_t readers = file_mode & (S_IRUSR | S_IRGRP | S_IROTH);
  return file_mode | readers >> 2;
}

// The kernel's link of an open descriptor; linkat(2) describes this use.
std::string link_of(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

// A hidden name that nobody can guess, not longer than NAME_MAX.
std::string hidden_name(const std::string& name) {
  constexpr size_t kLongestPart = 200;
  uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) return {};
  return fmt::format(".{}.{:016x}.new", name.substr(0, kLongestPart), number);
}

std::optional<std::pair<dev_t, ino_t>> identity_of(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return std::nullopt;
  return std::pair(facts.st_dev, facts.st_ino);
}

[[noreturn]] void throw_cannot_create(const std::filesystem::path& path, int reason) {
  Error error("cannot create " + path.string(), reason);
  if (reason != EEXIST) throw error;
  throw std::move(error).hint("choose another name, or replace the file with --force");
}

}  // namespace

void set_file_mode(mode_t mode) {
  file_mode = mode;
}

std::string name_of_hidden(std::string_view hidden) {
  constexpr std::string_view kEnd = ".new";
  constexpr size_t kDigits = 16;
  constexpr size_t kAround = 2 + kDigits + kEnd.size();  // the dots, and what follows the name
  if (hidden.size() <= kAround || !hidden.starts_with('.') || !hidden.ends_with(kEnd)) return {};
  const std::string_view name = hidden.substr(1, hidden.size() - kAround);
  const std::string_view number = hidden.substr(name.size() + 1, kDigits + 1);
  const bool ours = number.front() == '.' &&
                    number.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
  return ours ? std::string(name) : std::string();
}

void create_folders(const std::filesystem::path& folder) {
  const auto look = [&folder] {  // 0 if the folder exists, otherwise errno
    struct stat here {};
    if (::stat(folder.c_str(), &here) != 0) return errno;
    return S_ISDIR(here.st_mode) ? 0 : ENOTDIR;
  };
  if (folder.empty() || look() == 0) return;
  create_folders(folder.parent_path());
  if (::mkdir(folder.c_str(), S_IRWXU) != 0) {
    int reason = errno;
    if (reason == EEXIST) reason = look();
    if (reason == 0) return;
    throw Error("cannot create folder " + folder.string(), reason)
        .hint("choose another folder with -o");
  }
  if (folder_mode() == S_IRWXU) return;
  // The sandbox refuses chmod(2), and a planted link could lead it elsewhere.
  const Fd made(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made || ::fchmod(made.get(), folder_mode()) != 0) {
    throw Error("cannot set the access to folder " + folder.string(), errno);
  }
}

NewFile::NewFile(std::filesystem::path path, Existing existing)
    : path_(std::move(path)), name_(path_.filename().string()), existing_(existing) {}

NewFile NewFile::create(const std::filesystem::path& path, Existing existing) {
  NewFile file(path, existing);
  if (file.open_stream()) return file;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  file.folder_ = Fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!file.folder_) throw_cannot_create(path, errno);
  int reason = file.open_unnamed();
  if (reason == EOPNOTSUPP || reason == EISDIR || reason == EINVAL || reason == ENOENT) {
    reason = file.open_hidden();
  }
  // File systems without permissions refuse a change.
  if (reason == 0 && file_mode != kPrivate && ::fchmod(file.fd(), file_mode) != 0) reason = errno;
  if (reason != 0) throw_cannot_create(path, reason);
  return file;
}

// Returns false if the path is free, or has a file that may be replaced.
bool NewFile::open_stream() {
  struct stat here {};
  if (::lstat(path_.c_str(), &here) != 0) {
    if (errno != ENOENT) throw_cannot_create(path_, errno);
    if (name_.empty()) throw_cannot_create(path_, EISDIR);
    return false;
  }
  const bool link = S_ISLNK(here.st_mode);
  if (link && ::stat(path_.c_str(), &here) != 0) here.st_mode = S_IFREG;
  if (S_ISDIR(here.st_mode)) throw_cannot_create(path_, EISDIR);
  if (!S_ISREG(here.st_mode)) {
    stream_ = true;
    fd_ = Fd(::open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (!fd_) throw Error("cannot write " + path_.string(), errno);
    return true;
  }
  if (existing_ == Existing::kRefuse) throw_cannot_create(path_, EEXIST);
  if (link) {
    throw Error("cannot replace " + path_.string() + ": it is a symbolic link")
        .hint("name the file itself");
  }
  return false;
}

// Needs /proc to name the file later. Returns 0 or errno.
int NewFile::open_unnamed() {
  if (::access("/proc/self/fd", X_OK) != 0) return EOPNOTSUPP;
  fd_ = Fd(::openat(folder_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kPrivate));
  return fd_ ? 0 : errno;
}

int NewFile::open_hidden() {
  hidden_ = hidden_name(name_);
  const int how = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  fd_ = Fd(::openat(folder_.get(), hidden_.c_str(), how, kPrivate));
  if (fd_) return 0;
  hidden_.clear();
  return errno;
}

NewFile::~NewFile() {
  if (!published_) remove_hidden();
}

void NewFile::remove_hidden() {
  if (!hidden_.empty()) ::unlinkat(folder_.get(), hidden_.c_str(), 0);
  hidden_.clear();
}

int NewFile::name_hidden() {
  if (!hidden_.empty()) return 0;
  std::string name = hidden_name(name_);
  if (::linkat(AT_FDCWD, link_of(fd()).c_str(), folder_.get(), name.c_str(), AT_SYMLINK_FOLLOW) !=
      0)
    return errno;
  hidden_ = std::move(name);  // a copy may throw, and leave a file that nobody removes
  return 0;
}

// For file systems that cannot rename without replacing: an empty file holds the name until the
// rename replaces it.
int NewFile::claim_name() const {
  const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  return Fd(::openat(folder_.get(), name_.c_str(), how, kPrivate)) ? 0 : errno;
}

void NewFile::write(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      throw Error("cannot write " + path_.string(), errno);
    }
  }
}

int NewFile::publish() {
  if (stream_ || published_) return 0;
  if (existing_ == Existing::kRefuse && hidden_.empty()) {
    if (::linkat(AT_FDCWD, link_of(fd()).c_str(), folder_.get(), name_.c_str(),
                 AT_SYMLINK_FOLLOW) != 0)
      return errno;
    published_ = true;
    return 0;
  }
  if (const int reason = name_hidden(); reason != 0) return reason;
  const auto rename = [this](unsigned how) {
    return ::renameat2(folder_.get(), hidden_.c_str(), folder_.get(), name_.c_str(), how) == 0
               ? 0
               : errno;
  };
  int reason = rename(existing_ == Existing::kRefuse ? RENAME_NOREPLACE : 0);
  if (existing_ == Existing::kRefuse && (reason == EINVAL || reason == ENOSYS)) {
    reason = claim_name();
    if (reason == 0) reason = rename(0);
  }
  if (reason != 0) return reason;
  hidden_.clear();
  published_ = true;
  return 0;
}

int NewFile::close_now() {
  if (!fd_) return 0;
  return ::close(fd_.release()) == 0 ? 0 : errno;
}

int NewFile::set_aside() {
  if (!stream_) {
    if (const int reason = name_hidden(); reason != 0) return reason;
    identity_ = identity_of(fd());
    if (!identity_) return errno;
  }
  return close_now();
}

// An unnamed file is lost when its last descriptor closes, so a copy of the descriptor reports a
// late failure first.
int NewFile::sync_name() const {
  if (stream_ || !published_) return 0;
  const Fd folder(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return errno == EACCES ? 0 : errno;
  return ::fsync(folder.get()) == 0 || errno == EINVAL ? 0 : errno;
}

int NewFile::finish() {
  if (fd_ && !stream_ && !published_) {
    const int copy = ::fcntl(fd(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || ::close(copy) != 0) return errno;
    if (const int reason = publish(); reason != 0) return reason;
  }
  return close_now();
}

int NewFile::unpublish() {
  if (fd_) identity_ = identity_of(fd());
  if (!identity_) return fd_ ? errno : EBADF;
  struct stat named {};
  if (::fstatat(folder_.get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? 0 : errno;
  }
  if (*identity_ != std::pair(named.st_dev, named.st_ino)) return 0;
  if (::unlinkat(folder_.get(), name_.c_str(), 0) != 0) return errno;
  published_ = false;
  return 0;
}

int NewFile::discard() {
  const int reason = published_ ? unpublish() : 0;
  if (!stream_) remove_hidden();
  fd_.reset();
  return reason;
}

}  // namespace htmtrace
