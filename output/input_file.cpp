// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/input_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/error.h"

namespace htmtrace {

InputFile::InputFile(int fd, bool owned, std::string name)
    : fd_(fd), owned_(owned), name_(std::move(name)) {
  struct stat status {};
  if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) return;
  size_bytes_ = static_cast<uint64_t>(status.st_size);
  // Best effort: it only makes the kernel read further ahead.
  ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

InputFile InputFile::standard_input() {
  return {STDIN_FILENO, false, "standard input"};
}

InputFile InputFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw Error("cannot open " + path.string(), errno);
  return {fd, true, path.string()};
}

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      owned_(std::exchange(other.owned_, false)),
      name_(std::move(other.name_)),
      size_bytes_(other.size_bytes_) {}

InputFile::~InputFile() {
  if (owned_ && fd_ >= 0) ::close(fd_);
}

size_t InputFile::read(std::span<std::byte> buffer) {
  for (;;) {
    const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) throw Error("cannot read " + name_, errno);
  }
}

void InputFile::go_to(uint64_t offset) {
  if (::lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0) {
    throw Error("cannot read " + name_, errno);
  }
}

std::vector<std::byte> InputFile::read_all(uint64_t most_bytes) {
  std::vector<std::byte> bytes;
  size_t used = 0;
  for (;;) {
    bytes.resize(used + (64 << 10));
    const size_t got = read(std::span(bytes).subspan(used));
    used += got;
    if (used > most_bytes) {
      throw Error(fmt::format("cannot use {}: it is larger than {} bytes", name_, most_bytes));
    }
    if (got == 0) break;
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace htmtrace
