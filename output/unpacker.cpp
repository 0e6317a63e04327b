// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/unpacker.h"

#include <fmt/core.h>

#include <array>

#include "core/error.h"

namespace htmtrace {
namespace {

// RFC 8878: the magic numbers of frames (3.1.1) and of skippable frames (3.1.2), little-endian.
constexpr uint32_t kFrameMagic = 0xFD2FB528;
constexpr uint32_t kSkippableMagic = 0x184D2A50;
constexpr uint32_t kSkippableMask = 0xFFFFFFF0;

uint64_t load_le(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t index = bytes.size(); index-- != 0;) {
    value = value << 8 | std::to_integer<uint64_t>(bytes[index]);
  }
  return value;
}

using ReadAt = std::function<size_t(uint64_t, std::span<std::byte>)>;

// A number of `count` bytes, at most 8; nothing behind the end.
std::optional<uint64_t> number_at(const ReadAt& read_at, uint64_t offset, size_t count) {
  std::array<std::byte, sizeof(uint64_t)> bytes{};
  const auto wanted = std::span(bytes).first(count);
  if (read_at(offset, wanted) != count) return std::nullopt;
  return load_le(wanted);
}

// RFC 8878, 3.1.1.1.1: what the frame header descriptor says of the header.
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
  size_t before_content_size;  // between the descriptor and the content size
  size_t content_size_bytes;
  uint64_t content_size_base;
  size_t checksum_bytes;
};

// Where the blocks that begin at `offset` end (3.1.1.2); nothing when one is cut or of no type.
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

}  // namespace

bool is_packed(std::span<const std::byte> begin) {
  if (begin.size() < kPackedMagicBytes) return false;
  const auto magic = static_cast<uint32_t>(load_le(begin.first(kPackedMagicBytes)));
  return magic == kFrameMagic || (magic & kSkippableMask) == kSkippableMagic;
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

#ifdef HTMTRACE_HAVE_ZSTD
#include <zstd.h>

namespace htmtrace {

struct Unpacker::Context {
  Context() : library(ZSTD_createDCtx()) {}
  ~Context() { ZSTD_freeDCtx(library); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ZSTD_DCtx* library;
};

Unpacker::Unpacker() : context_(std::make_unique<Context>()), packed_(ZSTD_DStreamInSize()) {
  if (context_->library == nullptr) throw Error("cannot decompress: there is no memory for it");
}

size_t Unpacker::read(std::span<std::byte> buffer, const Read& next) {
  ZSTD_outBuffer out = {buffer.data(), buffer.size(), 0};
  while (out.pos != out.size && !ended_) {
    if (used_ == size_) {
      size_ = next(packed_);
      used_ = 0;
      taken_bytes_ += size_;
    }
    ended_ = size_ == 0;
    ZSTD_inBuffer in = {packed_.data(), size_, used_};
    // At the end of the file this still gives what it holds back.
    const size_t before = out.pos;
    const size_t hint =
        ended_ && !in_frame_ ? 0 : ZSTD_decompressStream(context_->library, &out, &in);
    used_ = in.pos;
    if (ZSTD_isError(hint) != 0) {
      trouble_ = fmt::format(
          "its compressed data is damaged before byte {} ({}); what is behind it "
          "cannot be read",
          taken_bytes_ - size_ + used_, ZSTD_getErrorName(hint));
      ended_ = true;
      break;
    }
    in_frame_ = hint != 0;
    if (ended_ && in_frame_ && out.pos == before) {
      trouble_ = "its last compressed frame is cut: the file ends in the middle of it";
    } else if (ended_ && in_frame_) {
      ended_ = false;  // there may be more
    }
  }
  return out.pos;
}

void Unpacker::restart() {
  ZSTD_DCtx_reset(context_->library, ZSTD_reset_session_only);
  size_ = used_ = 0;
  taken_bytes_ = 0;
  in_frame_ = ended_ = false;
  trouble_.clear();
}

}  // namespace htmtrace

#else

namespace htmtrace {

struct Unpacker::Context {};

Unpacker::Unpacker() {
  throw Error("cannot decompress: this htmtrace was built without libzstd")
      .hint("decompress it first: zstd -d");
}

size_t Unpacker::read(std::span<std::byte>, const Read&) {
  return 0;
}

void Unpacker::restart() {}

}  // namespace htmtrace

#endif

namespace htmtrace {

Unpacker::~Unpacker() = default;

}  // namespace htmtrace
