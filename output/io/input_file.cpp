// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/input_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/base/crc32c.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

// The content of a small compressed file, in addition to its stored size. Its reader takes up to
// five times as much (TranslationMap), and must stay below 256 MiB.
constexpr uint64_t kMostUnpackedBytes = 48 << 20;

}  // namespace

InputFile::InputFile(int fd, bool owned, std::string name)
    : fd_(fd), owned_(owned), name_(std::move(name)) {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) {
    const int reason = errno;
    if (owned_) ::close(fd_);
    throw Error("cannot read " + name_, reason);
  }
  if (!S_ISREG(status.st_mode)) return;
  regular_ = true;
  size_bytes_ = static_cast<uint64_t>(status.st_size);
  // Best effort: the advice only makes the kernel read further ahead.
  ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

InputFile InputFile::standard_input(std::vector<std::byte> begun) {
  InputFile file(STDIN_FILENO, false, "standard input");
  file.begin_with(std::move(begun));
  return file;
}

void InputFile::begin_with(std::vector<std::byte> begun) {
  begun_ = std::move(begun);
  const auto format = packed_format(begun_);
  if (!format) return;
  unpack(*format);
  size_bytes_.reset();
}

InputFile InputFile::open_unpacked(const std::filesystem::path& path) {
  InputFile file = open(path);
  if (!file.size_bytes_) {
    // A pipe delivers each byte only once, so keep the bytes that the format check reads.
    std::vector<std::byte> begun = file.read_begin(kPackedMagicBytes);
    file.begin_with(std::move(begun));
    return file;
  }
  std::array<std::byte, kPackedMagicBytes> begin{};
  const auto format = packed_format(std::span(begin).first(file.read_at(0, begin)));
  if (!format) return file;
  const uint64_t packed_bytes = *file.size_bytes_;
  file.unpack(*format);
  file.size_bytes_.reset();
  // A gzip file states its size modulo 4 GiB, and only for its last member.
  if (format == PackedFormat::kZstd) {
    file.size_bytes_ = unpacked_size(
        packed_bytes, [&](uint64_t offset, auto buffer) { return file.read_at(offset, buffer); });
  }
  return file;
}

void InputFile::unpack(PackedFormat format) {
  try {
    unpacker_ = std::make_unique<Unpacker>(format);
  } catch (const Error& error) {
    throw error.about("cannot read " + name_);
  }
}

std::filesystem::file_type type_of_file(const std::filesystem::path& path) {
  std::error_code failure;
  const std::filesystem::file_type type = std::filesystem::status(path, failure).type();
  if (type == std::filesystem::file_type::none) {
    throw Error("cannot access " + path.string(), failure.value());
  }
  return type;
}

InputFile InputFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw Error("cannot open " + path.string(), errno);
  return {fd, true, path.string()};
}

InputFile InputFile::open(const std::filesystem::path& path, std::vector<FileExtent> extents) {
  InputFile file = open(path);
  if (!file.size_bytes_)
    throw Error("cannot read parts of " + path.string() + ": it is not a regular file");
  file.in_extents_ = true;
  file.size_bytes_ = 0;
  for (const FileExtent& extent : extents) *file.size_bytes_ += extent.size_bytes;
  file.extents_ = std::move(extents);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      owned_(std::exchange(other.owned_, false)),
      name_(std::move(other.name_)),
      regular_(other.regular_),
      size_bytes_(other.size_bytes_),
      begun_(std::move(other.begun_)),
      unpacker_(std::move(other.unpacker_)),
      unpacked_bytes_(other.unpacked_bytes_),
      unpacked_all_(other.unpacked_all_),
      expected_bytes_(other.expected_bytes_),
      extents_(std::move(other.extents_)),
      in_extents_(other.in_extents_),
      extent_(other.extent_),
      extent_used_(other.extent_used_) {}

InputFile::~InputFile() {
  if (owned_ && fd_ >= 0) ::close(fd_);
}

size_t InputFile::read(std::span<std::byte> buffer) {
  if (in_extents_) return read_extents(buffer);
  if (!unpacker_) return read_file(buffer);
  const size_t got = unpacker_->read(buffer, [this](auto packed) { return read_file(packed); });
  unpacked_bytes_ += got;
  unpacked_all_ = got == 0 && !buffer.empty();
  return got;
}

std::string InputFile::trouble() const {
  if (!unpacker_) return {};
  if (!unpacker_->trouble().empty() || !unpacked_all_) return unpacker_->trouble();
  if (unpacked_bytes_ == expected_bytes_.value_or(unpacked_bytes_)) return {};
  return fmt::format("its manifest expects {} bytes when decompressed, found {}", *expected_bytes_,
                     unpacked_bytes_);
}

size_t InputFile::read_file(std::span<std::byte> buffer) {
  if (!begun_.empty()) {
    const size_t size = std::min(buffer.size(), begun_.size());
    std::copy_n(begun_.begin(), size, buffer.begin());
    begun_.erase(begun_.begin(), begun_.begin() + static_cast<ptrdiff_t>(size));
    return size;
  }
  for (;;) {
    const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) throw Error("cannot read " + name_, errno);
  }
}

size_t InputFile::read_extents(std::span<std::byte> buffer) {
  size_t used = 0;
  while (used < buffer.size() && extent_ < extents_.size()) {
    const FileExtent& extent = extents_[extent_];
    const uint64_t left = extent.size_bytes - extent_used_;
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(left, buffer.size() - used));
    const size_t got = read_at(extent.offset + extent_used_, buffer.subspan(used, wanted));
    if (got != wanted) throw Error("cannot read " + name_ + ": it has become shorter");
    used += got;
    extent_used_ += got;
    if (extent_used_ != extent.size_bytes) continue;
    extent_++;
    extent_used_ = 0;
  }
  return used;
}

size_t InputFile::read_at(uint64_t offset, std::span<std::byte> buffer) const {
  size_t used = 0;
  while (used < buffer.size()) {
    const ssize_t got =
        ::pread(fd_, buffer.data() + used, buffer.size() - used, static_cast<off_t>(offset + used));
    if (got == 0) break;
    if (got > 0) {
      used += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      throw Error("cannot read " + name_, errno);
    }
  }
  return used;
}

void InputFile::go_to(uint64_t offset) {
  if (in_extents_) {
    for (extent_ = 0; extent_ < extents_.size(); extent_++) {
      if (offset < extents_[extent_].size_bytes) break;
      offset -= extents_[extent_].size_bytes;
    }
    extent_used_ = offset;
    return;
  }
  if (::lseek(fd_, unpacker_ ? 0 : static_cast<off_t>(offset), SEEK_SET) < 0) {
    throw Error("cannot read " + name_, errno);
  }
  if (!unpacker_) return;
  unpacker_->restart();
  unpacked_bytes_ = 0;
  unpacked_all_ = false;
  std::vector<std::byte> skipped(kPieceBytes);
  while (offset != 0) {
    const size_t got = read(std::span(skipped).first(std::min<uint64_t>(offset, kPieceBytes)));
    if (got == 0) break;
    offset -= got;
  }
}

std::optional<FileIdentity> InputFile::identity() const {
  struct stat status {};
  if (!regular_ || unpacker_ || in_extents_) return std::nullopt;
  if (::fstat(fd_, &status) != 0) throw Error("cannot read " + name_, errno);
  constexpr uint64_t kNsPerSecond = 1'000'000'000;
  std::vector<std::byte> beginning(FileIdentity::kBeginningBytes);
  beginning.resize(read_at(0, beginning));
  return FileIdentity{.size_bytes = static_cast<uint64_t>(status.st_size),
                      .modified_ns = static_cast<uint64_t>(status.st_mtim.tv_sec) * kNsPerSecond +
                                     static_cast<uint64_t>(status.st_mtim.tv_nsec),
                      .beginning = crc32c(beginning)};
}

std::vector<std::byte> InputFile::read_begin(size_t size) {
  std::vector<std::byte> bytes(size);
  size_t used = 0;
  while (used < size) {
    const size_t got = read(std::span(bytes).subspan(used));
    if (got == 0) break;
    used += got;
  }
  bytes.resize(used);
  return bytes;
}

std::vector<std::byte> InputFile::read_all(uint64_t most_bytes) {
  std::vector<std::byte> bytes;
  constexpr size_t kPiece = 64 << 10;
  if (size_bytes_) bytes.reserve(std::min(*size_bytes_, most_bytes) + kPiece);
  size_t used = 0;
  for (;;) {
    bytes.resize(used + kPiece);
    const size_t got = read(std::span(bytes).subspan(used));
    used += got;
    if (used > most_bytes) {
      throw Error(fmt::format("cannot use {}: it is larger than {} bytes", name_, most_bytes));
    }
    if (unpacker_ && used > kMostUnpackedBytes + unpacker_->taken_bytes()) {
      throw Error(fmt::format("cannot use {}: its content is too large for a compressed file of "
                              "this kind",
                              name_))
          .on(fmt::format("limit: {} MiB more than the compressed file", kMostUnpackedBytes >> 20))
          .hint("decompress it first: zstd -d, or gzip -d");
    }
    if (got == 0) break;
  }
  if (!trouble().empty()) throw Error(fmt::format("cannot use {}: {}", name_, trouble()));
  bytes.resize(used);
  return bytes;
}

}  // namespace htmtrace
