// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/row_codec.h"

#ifdef HTMTRACE_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef HTMTRACE_HAVE_SNAPPY
#include <snappy-c.h>
#endif
#ifdef HTMTRACE_HAVE_ZSTD
#include <zstd.h>
#endif

#include <array>
#include <new>
#include <string>

#include "core/base/error.h"

namespace htmtrace {
namespace {

// A higher level takes several times as long for files that are a tenth smaller.
[[maybe_unused]] constexpr int kFastest = 1;

#if defined(HTMTRACE_HAVE_SNAPPY) && defined(HTMTRACE_HAVE_LIBDEFLATE)
size_t pack_snappy(std::span<const char> plain, RowFormat format, std::vector<char>& packed) {
  size_t size = ::snappy_max_compressed_length(plain.size());
  packed.resize(size + sizeof(uint32_t));
  // This fails only if the output has less room.
  ::snappy_compress(plain.data(), plain.size(), packed.data(), &size);
  if (format == RowFormat::kParquet) return size;
  // The CRC-32 of the plain bytes follows in big-endian order.
  const uint32_t sum = ::libdeflate_crc32(0, plain.data(), plain.size());
  for (int shift = 24; shift >= 0; shift -= 8) packed[size++] = static_cast<char>(sum >> shift);
  return size;
}
#endif

#ifdef HTMTRACE_HAVE_ZSTD
size_t pack_zstandard(std::span<const char> plain, std::vector<char>& packed) {
  packed.resize(::ZSTD_compressBound(plain.size()));
  const size_t size =
      ::ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), kFastest);
  if (::ZSTD_isError(size) != 0)
    throw std::bad_alloc();  // an output of this size has no other cause
  return size;
}
#endif

constexpr std::array<const char*, 4> kCodecNames = {"null", "deflate", "snappy", "zstandard"};

}  // namespace

const char* row_codec_name(RowCodec codec) {
  return kCodecNames.at(static_cast<size_t>(codec));
}

bool has_row_codec(RowCodec codec) {
#ifdef HTMTRACE_HAVE_LIBDEFLATE
  if (codec == RowCodec::kDeflate) return true;
#ifdef HTMTRACE_HAVE_SNAPPY
  if (codec == RowCodec::kSnappy) return true;
#endif
#endif
#ifdef HTMTRACE_HAVE_ZSTD
  if (codec == RowCodec::kZstandard) return true;
#endif
  return codec == RowCodec::kNull;
}

RowCodec default_row_codec() {
  for (const RowCodec codec : {RowCodec::kSnappy, RowCodec::kDeflate}) {
    if (has_row_codec(codec)) return codec;
  }
  return RowCodec::kNull;
}

struct RowPacker::Deflate {
#ifdef HTMTRACE_HAVE_LIBDEFLATE
  Deflate() : library(::libdeflate_alloc_compressor(kFastest)) {
    if (library == nullptr) throw std::bad_alloc();
  }
  ~Deflate() {
    ::libdeflate_free_compressor(library);
  }
  Deflate(const Deflate&) = delete;
  Deflate& operator=(const Deflate&) = delete;

  size_t pack(std::span<const char> plain, RowFormat format, std::vector<char>& packed) {
    if (format == RowFormat::kParquet) {
      packed.resize(::libdeflate_gzip_compress_bound(library, plain.size()));
      return ::libdeflate_gzip_compress(library, plain.data(), plain.size(), packed.data(),
                                        packed.size());
    }
    packed.resize(::libdeflate_deflate_compress_bound(library, plain.size()));
    return ::libdeflate_deflate_compress(library, plain.data(), plain.size(), packed.data(),
                                         packed.size());
  }

  libdeflate_compressor* library;
#endif
};

RowPacker::RowPacker(RowCodec codec, RowFormat format) : codec_(codec), format_(format) {
  if (!has_row_codec(codec)) {
    throw Error(std::string("cannot compress with ") + row_codec_name(codec) +
                ": htmtrace was built without its library")
        .hint("choose another --codec");
  }
  if (codec == RowCodec::kDeflate) deflate_ = std::make_unique<Deflate>();
}

RowPacker::~RowPacker() = default;

std::span<const char> RowPacker::pack(std::span<const char> plain) {
  size_t size = 0;
  switch (codec_) {
#ifdef HTMTRACE_HAVE_LIBDEFLATE
    case RowCodec::kDeflate:
      size = deflate_->pack(plain, format_, packed_);
      break;
#ifdef HTMTRACE_HAVE_SNAPPY
    case RowCodec::kSnappy:
      size = pack_snappy(plain, format_, packed_);
      break;
#endif
#endif
#ifdef HTMTRACE_HAVE_ZSTD
    case RowCodec::kZstandard:
      size = pack_zstandard(plain, packed_);
      break;
#endif
    default:
      return plain;
  }
  return std::span<const char>(packed_).first(size);
}

}  // namespace htmtrace
