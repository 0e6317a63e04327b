// SPDX-License-Identifier: GPL-2.0-or-later
// The codecs for the blocks of row files: an Avro object container file (Apache Avro specification
// 1.11, "Required Codecs" and "Optional Codecs"), or a page of a Parquet file (parquet.thrift,
// CompressionCodec).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace htmtrace {

enum class RowCodec : uint8_t { kNull, kDeflate, kSnappy, kZstandard };

// Avro has raw deflate, and a checksum after snappy's bytes. Parquet has gzip's header around
// deflate, and plain snappy.
enum class RowFormat : uint8_t { kAvro, kParquet };

// The name in the header of an Avro file: "null", "deflate", ...
const char* row_codec_name(RowCodec codec);

// Returns whether this build has the codec's library.
bool has_row_codec(RowCodec codec);

// The fastest codec that most readers have, as far as this build has it: snappy, deflate or null.
RowCodec default_row_codec();

// Compresses blocks. Each thread needs an object of its own.
class RowPacker {
 public:
  // Throws Error if this build lacks the codec's library.
  RowPacker(RowCodec codec, RowFormat format);
  ~RowPacker();
  RowPacker(const RowPacker&) = delete;
  RowPacker& operator=(const RowPacker&) = delete;

  // Returns the block as it is stored. The result is valid until the next call, or as long as
  // `plain`. Throws std::bad_alloc.
  std::span<const char> pack(std::span<const char> plain);

 private:
  struct Deflate;

  RowCodec codec_;
  RowFormat format_;
  std::unique_ptr<Deflate> deflate_;
  std::vector<char> packed_;
};

}  // namespace htmtrace
