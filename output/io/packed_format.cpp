// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/packed_format.h"

#include <array>

namespace htmtrace {
namespace {

// RFC 8878: the magic numbers of frames (3.1.1) and of skippable frames (3.1.2), little-endian.
constexpr uint32_t kFrameMagic = 0xFD2FB528;
constexpr uint32_t kSkippableMagic = 0x184D2A50;
constexpr uint32_t kSkippableMask = 0xFFFFFFF0;
constexpr size_t kZstdMagicBytes = 4;

uint64_t load_le(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t index = bytes.size(); index-- != 0;) {
    value = value << 8 | std::to_integer<uint64_t>(bytes[index]);
  }
  return value;
}

using ReadAt = std::function<size_t(uint64_t, std::span<std::byte>)>;

// Reads a number of `count` bytes, at most 8. Returns nothing if the number extends past the end.
std::optional<uint64_t> number_at(const ReadAt& read_at, uint64_t offset, size_t count) {
  std::array<std::byte, sizeof(uint64_t)> bytes{};
  const auto wanted = std::span(bytes).first(count);
  if (read_at(offset, wanted) != count) return std::nullopt;
  return load_le(wanted);
}

// RFC 8878, 3.1.1.1.1: the properties that the frame header descriptor states.
struct FrameHeader {
  explicit FrameHeader(uint64_t descriptor) {
    static constexpr std::array<size_t, 4> kContentSizeBytes = {0, 2, 4, 8};
    static constexpr std::array<size_t, 4> kDictionaryBytes = {0, 1, 2, 4};
    const bool single_segment = (descriptor >> 5 & 1) != 0;
    const size_t flag = descriptor >> 6;
    content_size_bytes = flag == 0 && single_segment ? 1 : kContentSizeBytes[flag];
    before_content_size = (single_segment ? 0 : 1) + kDictionaryBytes[descriptor & 3];
    content_size_base = flag == 1 ? 256 : 0;
    checksum_bytes = (descriptor >> 2 & 1) != 0 ? 4 : 0;
  }
  size_t before_content_size;  // bytes between the descriptor and the content size
  size_t content_size_bytes;
  uint64_t content_size_base;
  size_t checksum_bytes;
};

// Returns the end of the blocks that begin at `offset` (3.1.1.2). Returns nothing if a block is
// truncated or has an invalid type.
std::optional<uint64_t> end_of_blocks(const ReadAt& read_at, uint64_t offset) {
  constexpr size_t kHeaderBytes = 3;
  constexpr uint64_t kRepeatedByte = 1;
  constexpr uint64_t kReserved = 3;
  while (true) {
    const auto header = number_at(read_at, offset, kHeaderBytes);
    if (!header || (*header >> 1 & 3) == kReserved) return std::nullopt;
    offset += kHeaderBytes + ((*header >> 1 & 3) == kRepeatedByte ? 1 : *header >> 3);
    if ((*header & 1) != 0) return offset;
  }
}

// RFC 1952, 2.3.1: magic, method (deflate), and flags, of which three are reserved and 0. After the
// time follow the extra flags and the operating system. 2.3.1.1 defines extra flags 2 (slowest) and
// 4 (fastest); 0 states neither.
bool is_gzip(std::span<const std::byte> begin) {
  if (begin.size() < kPackedMagicBytes) return false;
  const auto byte = [begin](size_t at) { return std::to_integer<unsigned>(begin[at]); };
  const bool extra = byte(8) == 0 || byte(8) == 2 || byte(8) == 4;
  const bool system = byte(9) <= 13 || byte(9) == 255;
  return byte(0) == 0x1f && byte(1) == 0x8b && byte(2) == 8 && (byte(3) & 0xe0) == 0 && extra &&
         system;
}

}  // namespace

std::optional<PackedFormat> packed_format(std::span<const std::byte> begin) {
  if (is_gzip(begin)) return PackedFormat::kGzip;
  if (begin.size() < kZstdMagicBytes) return std::nullopt;
  const auto magic = static_cast<uint32_t>(load_le(begin.first(kZstdMagicBytes)));
  const bool zstd = magic == kFrameMagic || (magic & kSkippableMask) == kSkippableMagic;
  return zstd ? std::optional(PackedFormat::kZstd) : std::nullopt;
}

std::optional<size_t> bytes_of_zstd_header(std::span<const std::byte> begin) {
  if (begin.size() < kZstdMagicBytes) return kZstdMagicBytes;
  const auto magic = static_cast<uint32_t>(load_le(begin.first(kZstdMagicBytes)));
  // RFC 8878, 3.1.2: the size of the content follows the magic number.
  if ((magic & kSkippableMask) == kSkippableMagic) return kZstdMagicBytes + sizeof(uint32_t);
  if (magic != kFrameMagic) return std::nullopt;
  if (begin.size() == kZstdMagicBytes) return kZstdMagicBytes + 1;
  const FrameHeader header(std::to_integer<uint64_t>(begin[kZstdMagicBytes]));
  return kZstdMagicBytes + 1 + header.before_content_size + header.content_size_bytes;
}

std::optional<uint64_t> unpacked_size(uint64_t file_bytes, const ReadAt& read_at) {
  uint64_t sum = 0;
  uint64_t offset = 0;
  while (offset < file_bytes) {
    const auto magic = number_at(read_at, offset, 4);
    const auto next = number_at(read_at, offset + 4, 4);  // size of a skippable frame
    if (magic && next && (*magic & kSkippableMask) == kSkippableMagic) {
      offset += 8 + *next;
      continue;
    }
    const auto descriptor = number_at(read_at, offset + 4, 1);
    if (magic != kFrameMagic || !descriptor) return std::nullopt;
    const FrameHeader header(*descriptor);
    offset += 5 + header.before_content_size;
    const auto size = number_at(read_at, offset, header.content_size_bytes);
    if (!size || header.content_size_bytes == 0) return std::nullopt;
    sum += *size + header.content_size_base;
    const auto end = end_of_blocks(read_at, offset + header.content_size_bytes);
    if (!end) return std::nullopt;
    offset = *end + header.checksum_bytes;
  }
  if (offset != file_bytes) return std::nullopt;
  return sum;
}

}  // namespace htmtrace
