// SPDX-License-Identifier: GPL-2.0-or-later
// The codecs for the blocks of an Avro object container file (Apache Avro specification 1.11,
// "Required Codecs" and "Optional Codecs").
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace htmtrace {

enum class AvroCodec : uint8_t { kNull, kDeflate, kSnappy, kZstandard };

// The name in the file's header: "null", "deflate", ...
const char* avro_codec_name(AvroCodec codec);

// Returns whether this build has the codec's library.
bool has_avro_codec(AvroCodec codec);

// The fastest codec that all engines read, as far as this build has it: snappy, deflate or null.
AvroCodec default_avro_codec();

// Compresses blocks. Each thread needs an object of its own.
class AvroPacker {
 public:
  // Throws Error if this build lacks the codec's library.
  explicit AvroPacker(AvroCodec codec);
  ~AvroPacker();
  AvroPacker(const AvroPacker&) = delete;
  AvroPacker& operator=(const AvroPacker&) = delete;

  // Returns the block as it is stored. The result is valid until the next call, or as long as
  // `plain`. Throws std::bad_alloc.
  std::span<const char> pack(std::span<const char> plain);

 private:
  struct Deflate;

  AvroCodec codec_;
  std::unique_ptr<Deflate> deflate_;
  std::vector<char> packed_;
};

}  // namespace htmtrace
