// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/trace_sink.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "core/base/error.h"

namespace htmtrace {
namespace {

// Bytes of one write(2). After an error, write(2) states the count of written bytes, so a large
// piece loses no more than a small one.
constexpr size_t kWriteBytes = 1 << 20;
// A piece of this size stays in the cache while it is copied.
constexpr size_t kCopyBytes = 256 << 10;

// Bytes of space that are reserved at once. This saves a third of a write's processor time on a
// file system that otherwise allocates block by block (ext4: 0.13 instead of 0.19 s per GB). Steps
// of 4 to 64 MiB perform equally well.
//
// While the next piece is drained, kernel threads write the last piece out of the page cache.
// Starting this write ourselves with sync_file_range(2) takes 0.1 s per GB or more. O_DIRECT needs
// a copy out of the ring first. It costs as much processor time as it saves, and the drain must
// wait for the disk.
constexpr uint64_t kAheadBytes = 16 << 20;

}  // namespace

TraceSink::TraceSink(NewFile file) : file_(std::move(file)), ahead_bytes_(kAheadBytes) {}

TraceSink TraceSink::create(const std::filesystem::path& path, Existing existing) {
  return TraceSink(NewFile::create(path, existing));
}

void TraceSink::begin() {
  const int reason = try_begin();
  if (reason != 0) throw Error("cannot create " + path().string(), reason);
}

void TraceSink::reserve(uint64_t size_bytes) const {
  if (size_bytes == 0) return;
  if (::fallocate(file_.fd(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size_bytes)) == 0) return;
  const int reason = errno;
  if (reason != ENOSPC && reason != EDQUOT && reason != EFBIG) return;
  throw Error(fmt::format("cannot reserve {} bytes for {}", size_bytes, path().string()), reason)
      .hint("make room on the disk, or choose another folder with -o");
}

void TraceSink::append(std::span<const std::byte> bytes) {
  set_aside(written_bytes_ + bytes.size());
  write_at(written_bytes_, bytes);
}

void TraceSink::append_if_it_fits(std::span<const std::byte> bytes) {
  if (error_) return;
  const uint64_t before = written_bytes_;
  write_at(before, bytes);
  if (!error_) return;
  error_.reset();
  discarded_bytes_ = 0;
  take_back(before);
}

// A short file needs no reservation. After a failure, this is not tried again.
void TraceSink::set_aside(uint64_t end) {
  if (end <= ahead_bytes_) return;
  const uint64_t begin = std::exchange(ahead_bytes_, end + kAheadBytes);
  const auto size = static_cast<off_t>(ahead_bytes_ - begin);
  if (::fallocate(file_.fd(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin), size) == 0) return;
  ahead_bytes_ = std::numeric_limits<uint64_t>::max();
}

void TraceSink::rewrite(std::span<const std::byte> bytes) {
  const uint64_t old_bytes = std::exchange(written_bytes_, 0);
  write_at(0, bytes);
  if (written_bytes_ == 0) written_bytes_ = old_bytes;  // the old content is still there
}

void TraceSink::write_at(uint64_t position, std::span<const std::byte> bytes) {
  while (!bytes.empty() && !error_) {
    const size_t want = std::min(bytes.size(), copy_ ? kCopyBytes : kWriteBytes);
    const std::byte* from = bytes.data();
    if (copy_) from = std::copy_n(from, want, copy_.get()) - want;
    const ssize_t done = file_.is_stream()
                             ? ::write(file_.fd(), from, want)
                             : ::pwrite(file_.fd(), from, want, static_cast<off_t>(position));
    if (done < 0) {
      if (errno == EFAULT && !copy_) {
        copy_ = std::make_unique<std::byte[]>(kCopyBytes);
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

// The kernel releases the lock when the process ends or is killed.
void TraceSink::mark_as_being_written() const {
  ::flock(file_.fd(), LOCK_EX | LOCK_NB);
}

bool is_being_written(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return locked;
}

void TraceSink::end() {
  if (std::exchange(ended_, true) || file_.is_stream() || !file_.is_published()) return;
  struct stat status {};
  if (::fstat(file_.fd(), &status) == 0 && status.st_nlink == 0) fail(ENOENT);
}

void TraceSink::finish() {
  if (file_.fd() < 0) return;
  if (!file_.is_stream()) {
    if (::ftruncate(file_.fd(), static_cast<off_t>(written_bytes_)) != 0) fail(errno);
    // The kernel reports most errors of a disk only here. EINVAL: the file system has no fsync(2).
    if (::fsync(file_.fd()) != 0 && errno != EINVAL) fail(errno);
    end();
  }
  if (error_ && !file_.is_published()) {
    file_.discard();
    return;
  }
  if (const int reason = file_.finish(); reason != 0) return fail(reason);
  if (const int reason = file_.sync_name(); reason != 0) fail(reason);
}

std::string TraceSink::cause() const {
  if (error_ == ENOENT) return "the file was removed while it was written";
  return std::strerror(error_.value_or(EIO));
}

void TraceSink::discard() {
  if (file_.fd() >= 0) file_.discard();
}

void TraceSink::fail(int reason) {
  if (error_) return;
  error_ = reason;
  error_moment_ = now();
}

}  // namespace htmtrace
