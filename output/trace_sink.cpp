// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/trace_sink.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/error.h"

namespace htmtrace {
namespace {

// Large enough to be cheap, small enough that an error loses little of what was on its way, and
// that a copy stays in the cache.
constexpr size_t kWriteBytes = 256 << 10;

}  // namespace

TraceSink::TraceSink(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}

TraceSink::TraceSink(TraceSink&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      written_bytes_(other.written_bytes_),
      discarded_bytes_(other.discarded_bytes_),
      error_(other.error_),
      error_moment_(other.error_moment_),
      copy_(std::move(other.copy_)) {}

TraceSink::~TraceSink() {
  if (fd_ >= 0) ::close(fd_);
}

TraceSink TraceSink::create(const std::filesystem::path& path, Existing existing) {
  const int how = existing == Existing::kReplace ? O_TRUNC : O_EXCL;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
  if (fd < 0) {
    const int reason = errno;
    Error error(fmt::format("cannot create {}", path.string()), reason);
    if (reason != EEXIST) throw error;
    throw std::move(error).hint("choose another folder with -o, or replace it with --force");
  }
  return TraceSink(path, fd);
}

void TraceSink::reserve(uint64_t size_bytes) const {
  if (size_bytes == 0) return;
  if (::fallocate(fd_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size_bytes)) == 0) return;
  const int reason = errno;
  if (reason != ENOSPC && reason != EDQUOT && reason != EFBIG) return;
  throw Error(fmt::format("cannot set {} bytes aside for {}", size_bytes, path_.string()), reason)
      .hint("make room on the disk, or choose another folder with -o");
}

void TraceSink::append(std::span<const std::byte> bytes) {
  write_at(written_bytes_, bytes);
}

void TraceSink::rewrite(std::span<const std::byte> bytes) {
  written_bytes_ = 0;
  write_at(0, bytes);
}

void TraceSink::write_at(uint64_t position, std::span<const std::byte> bytes) {
  while (!bytes.empty() && !error_) {
    const size_t want = std::min(bytes.size(), kWriteBytes);
    const std::byte* from = bytes.data();
    if (copy_) from = std::copy_n(from, want, copy_.get()) - want;
    const ssize_t done = ::pwrite(fd_, from, want, static_cast<off_t>(position));
    if (done < 0) {
      if (errno == EFAULT && !copy_) {
        copy_ = std::make_unique<std::byte[]>(kWriteBytes);
      } else if (errno != EINTR) {
        fail(errno);
      }
      continue;
    }
    bytes = bytes.subspan(static_cast<size_t>(done));
    position += static_cast<uint64_t>(done);
    written_bytes_ = position;
  }
  discarded_bytes_ += bytes.size();
}

void TraceSink::finish() {
  if (fd_ < 0) return;
  if (::ftruncate(fd_, static_cast<off_t>(written_bytes_)) != 0) fail(errno);
  if (::close(std::exchange(fd_, -1)) != 0) fail(errno);
}

void TraceSink::discard() {
  if (fd_ < 0) return;
  ::close(std::exchange(fd_, -1));
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void TraceSink::fail(int reason) {
  if (error_) return;
  error_ = reason;
  error_moment_ = now();
}

}  // namespace htmtrace
