// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/unpacker.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"

#ifdef HTMTRACE_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HTMTRACE_HAVE_ZLIB
#include <zlib.h>
#endif

namespace htmtrace {
namespace {

// Holds the largest block with its header (zstd_compression_format.md, Block_Maximum_Size).
constexpr size_t kPackedBytes = 256 << 10;

[[noreturn]] [[maybe_unused]] void refuse(const char* library, const char* program) {
  throw Error(fmt::format("cannot decompress: this htmtrace was built without {}", library))
      .hint(fmt::format("decompress it first: {} -d", program));
}

[[noreturn]] [[maybe_unused]] void refuse_for_memory() {
  throw Error("cannot decompress: out of memory");
}

}  // namespace

// ------------------------------------------------------------------------------------ zstd

#ifdef HTMTRACE_HAVE_ZSTD
struct Unpacker::Zstd {
  Zstd() : library(ZSTD_createDCtx()) {
    if (library == nullptr) refuse_for_memory();
  }
  ~Zstd() { ZSTD_freeDCtx(library); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  // Decodes at most one block. In a call that finds damage, the library does not report the bytes
  // that it has unpacked before the damage. With several blocks in a call, the number of these
  // bytes would depend on the size of `room`.
  Step step(std::span<const std::byte> packed, std::span<std::byte> room) {
    size_t wanted_bytes = part();
    if (hint == 0) {
      frame_bytes = 0;
      const unsigned long long size_of_frame =
          ZSTD_getFrameContentSize(packed.data(), packed.size());
      states_size =
          size_of_frame != ZSTD_CONTENTSIZE_UNKNOWN && size_of_frame != ZSTD_CONTENTSIZE_ERROR;
      stated_bytes = size_of_frame;
      // If a header is invalid, the library looks for a frame of its formats before 0.8 at the
      // start of the input of the call, even if that start is within the header. The number of
      // bytes that it unpacks from such a frame before it finds damage depends on the size of
      // `room`.
      const std::optional<size_t> header_bytes = bytes_of_zstd_header(packed);
      if (!header_bytes)
        return {.taken = 0, .given = 0, .in_frame = true, .trouble = "no frame begins here"};
      wanted_bytes = *header_bytes;
    }
    const size_t size = full ? 0 : std::min(wanted_bytes, packed.size());
    ZSTD_outBuffer out = {room.data(), room.size(), 0};
    ZSTD_inBuffer in = {packed.data(), size, 0};
    hint = ZSTD_decompressStream(library, &out, &in);
    full = out.pos == out.size && hint != 0;
    frame_bytes += out.pos;
    Step step{.taken = in.pos, .given = out.pos, .in_frame = hint != 0, .trouble = {}};
    if (ZSTD_isError(hint) != 0) {
      step.trouble = ZSTD_getErrorName(hint);
    } else if (hint == 0 && states_size && frame_bytes != stated_bytes) {
      // The library does not check this if the last block is empty.
      step.trouble = fmt::format("a frame of {} bytes has {}", stated_bytes, frame_bytes);
    }
    return step;
  }
  // Returns how many bytes step() needs in one call; fewer are enough at the end of the file. With
  // fewer bytes, the library decodes a part of an uncompressed block. The number of bytes before
  // damage would then depend on the size of this part.
  size_t wanted() const {
    // zstd_compression_format.md, Frame_Header, with the magic number.
    constexpr size_t kMostHeaderBytes = 18;
    if (full) return 0;
    return hint == 0 ? kMostHeaderBytes : std::min(part(), kPackedBytes);
  }
  // zstd_compression_format.md, Block_Header. The library's hint includes the next header.
  size_t part() const {
    constexpr size_t kBlockHeaderBytes = 3;
    return hint > kBlockHeaderBytes ? hint - kBlockHeaderBytes : std::max<size_t>(hint, 1);
  }
  void restart() {
    ZSTD_DCtx_reset(library, ZSTD_reset_session_only);
    hint = 0;
    full = false;
  }

  size_t hint = 0;    // how many bytes the library expects next; 0: a frame begins
  bool full = false;  // the library may hold bytes that had no room in the last call
  bool states_size = false;
  uint64_t stated_bytes = 0;  // of the frame, if states_size
  uint64_t frame_bytes = 0;   // unpacked so far
  ZSTD_DCtx* library;
};
#else
struct Unpacker::Zstd {
  Zstd() { refuse("libzstd", "zstd"); }
  static Step step(std::span<const std::byte>, std::span<std::byte>) { return {}; }
  static size_t wanted() { return 0; }
  static void restart() {}
};
#endif

// ------------------------------------------------------------------------------------ gzip

#ifdef HTMTRACE_HAVE_ZLIB
struct Unpacker::Gzip {
  Gzip() {
    constexpr int kOnlyGzip = 16;  // zlib.h, inflateInit2(): added to the size of the window
    if (inflateInit2(&library, kOnlyGzip + MAX_WBITS) != Z_OK) refuse_for_memory();
  }
  ~Gzip() { inflateEnd(&library); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Step step(std::span<const std::byte> packed, std::span<std::byte> room) {
    Step step;
    // A file may have several members: `cat` and parallel compressors make such files.
    if (between && !packed.empty()) {
      // Zeros pad files on tapes. gzip ignores them, too.
      while (step.taken < packed.size() && packed[step.taken] == std::byte{0}) step.taken++;
      step.in_frame = step.taken < packed.size();
      if (!step.in_frame) return step;
      restart();
    }
    packed = packed.subspan(step.taken);
    // zlib only reads its input, but the pointer is not const.
    library.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
    library.avail_in = static_cast<uInt>(packed.size());
    library.next_out = reinterpret_cast<Bytef*>(room.data());
    library.avail_out = static_cast<uInt>(room.size());
    const int result = inflate(&library, Z_NO_FLUSH);
    step.taken += packed.size() - library.avail_in;
    step.given = room.size() - library.avail_out;
    between = result == Z_STREAM_END;
    step.in_frame = !between;
    // Z_BUF_ERROR is no error: zlib needs more input or more room.
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      step.trouble = library.msg != nullptr ? library.msg : zError(result);
    }
    return step;
  }
  void restart() {
    inflateReset(&library);
    between = false;
  }

  z_stream library{};
  bool between = false;  // a member has ended
};
#else
struct Unpacker::Gzip {
  Gzip() { refuse("zlib", "gzip"); }
  static Step step(std::span<const std::byte>, std::span<std::byte>) { return {}; }
  static void restart() {}
};
#endif

// ------------------------------------------------------------------------------------ both formats

Unpacker::Unpacker(PackedFormat format) : packed_(kPackedBytes) {
  if (format == PackedFormat::kZstd) {
    zstd_ = std::make_unique<Zstd>();
  } else {
    gzip_ = std::make_unique<Gzip>();
  }
}

Unpacker::~Unpacker() = default;

Unpacker::Step Unpacker::step(std::span<const std::byte> packed, std::span<std::byte> room) {
  return zstd_ ? zstd_->step(packed, room) : gzip_->step(packed, room);
}

// Reads until packed_ has the bytes for the next step.
void Unpacker::fetch(const Read& next) {
  const size_t wanted = zstd_ ? zstd_->wanted() : 1;
  if (size_ - used_ >= wanted) return;
  std::copy(packed_.begin() + static_cast<ptrdiff_t>(used_),
            packed_.begin() + static_cast<ptrdiff_t>(size_), packed_.begin());
  size_ -= std::exchange(used_, 0);
  while (size_ < wanted && !file_ended_) {
    const size_t got = next(std::span(packed_).subspan(size_));
    size_ += got;
    taken_bytes_ += got;
    file_ended_ = got == 0;
  }
}

size_t Unpacker::read(std::span<std::byte> buffer, const Read& next) {
  size_t given = 0;
  while (given != buffer.size() && !ended_) {
    fetch(next);
    ended_ = used_ == size_ && file_ended_;
    if (ended_ && !in_frame_) break;
    // At the end of the file, the library may still hold unpacked bytes.
    const Step made = step(std::span(packed_).subspan(used_, size_ - used_), buffer.subspan(given));
    used_ += made.taken;
    given += made.given;
    given_bytes_ += made.given;
    in_frame_ = made.in_frame;
    if (!made.trouble.empty()) {
      // The checksum of a frame follows its data, so the damage may have changed earlier bytes.
      trouble_ = fmt::format(
          "its compressed data is damaged before byte {} ({}); later data cannot be read, and "
          "decompressed data from byte {} on can be wrong",
          taken_bytes_ - size_ + used_, made.trouble, frame_begin_);
      ended_ = true;
    } else if (ended_ && in_frame_ && made.given == 0) {
      trouble_ = "its last compressed frame is cut: the file ends in the middle of it";
    } else if (ended_ && in_frame_) {
      ended_ = false;  // the library may hold more bytes
    }
    if (!in_frame_) frame_begin_ = given_bytes_;
  }
  return given;
}

void Unpacker::restart() {
  if (zstd_) zstd_->restart();
  if (gzip_) gzip_->restart();
  size_ = used_ = 0;
  taken_bytes_ = given_bytes_ = frame_begin_ = 0;
  in_frame_ = ended_ = file_ended_ = false;
  trouble_.clear();
}

}  // namespace htmtrace
