// SPDX-License-Identifier: GPL-2.0-or-later
// The encodings of values in the pages of Parquet files (Apache Parquet format, Encodings.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace htmtrace::parquet {

using Bytes = std::vector<char>;

// Numbers in little-endian order, `size_bytes` bytes each: PLAIN of INT32 and INT64.
void put_plain(std::span<const uint64_t> values, unsigned size_bytes, Bytes& out);
// The text, after its size: PLAIN of BYTE_ARRAY.
void put_text(std::string_view text, Bytes& out);

// DELTA_BINARY_PACKED of INT64: the differences of values that follow one another.
void put_deltas(std::span<const uint64_t> values, Bytes& out);

// RLE, the encoding of levels and of indices. A constant becomes one run; otherwise each value
// takes `width` bits: 1, 2, 8 or 16.
void put_runs(std::span<const uint8_t> values, unsigned width, Bytes& out);
void put_runs(std::span<const uint16_t> values, unsigned width, Bytes& out);

// The distinct values of a column, in the order of their first use, and an index for each value.
class Dictionary {
 public:
  static constexpr size_t kMostEntries = 1 << 16;

  // Returns false if a dictionary is not worthwhile: it has too many entries.
  bool build(std::span<const uint64_t> values);

  std::span<const uint64_t> entries() const { return entries_; }
  std::span<const uint16_t> indices() const { return indices_; }

 private:
  static constexpr unsigned kPlaceBits = 17;

  std::vector<uint32_t> places_;  // a hash table: 0, or the number of an entry + 1
  std::vector<uint64_t> entries_;
  std::vector<uint16_t> indices_;
};

}  // namespace htmtrace::parquet
