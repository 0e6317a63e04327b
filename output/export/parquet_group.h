// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes a group of rows as the pages of a Parquet file: for each column, a dictionary page where
// it pays off, and one data page (Apache Parquet format, README.md, "File format").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "output/export/parquet_encodings.h"
#include "output/export/parquet_rows.h"
#include "output/export/row_codec.h"

namespace htmtrace::parquet {

// parquet.thrift, Encoding.
enum class Encoding : uint8_t { kPlain = 0, kRle = 3, kDeltaBinaryPacked = 5, kRleDictionary = 8 };

// The values of one column in one group. Offsets and sizes in bytes include the headers of the
// pages.
struct Chunk {
  uint64_t begin = 0;
  uint64_t data_begin = 0;  // after the dictionary page, if there is one
  uint64_t end = 0;
  uint64_t plain_bytes = 0;  // before compression
  uint64_t slots = 0;        // values and nulls
  uint64_t nulls = 0;
  Encoding encoding = Encoding::kPlain;
  // The least and the greatest value in PLAIN encoding, a text without its size. Empty if there is
  // no value.
  std::optional<std::string> least, greatest;
};

class GroupEncoder {
 public:
  GroupEncoder(std::span<const Leaf> leaves, RowCodec codec)
      : leaves_(leaves), packer_(codec, RowFormat::kParquet) {}

  void encode(const Rows& rows);

  // The pages, and the columns in them, whose offsets count from the first page.
  std::span<const char> bytes() const { return bytes_; }
  const std::vector<Chunk>& chunks() const { return chunks_; }

 private:
  Chunk encode_column(const Leaf& leaf, const Rows::Column& column,
                      std::span<const uint8_t> repeats);
  void encode_texts(std::span<const std::string_view> texts, std::span<const uint64_t> numbers,
                    Chunk& chunk);
  void encode_numbers(const Leaf& leaf, std::span<const uint64_t> values, Chunk& chunk);
  void put_levels(std::span<const uint8_t> levels, unsigned width);
  void put_indices(std::span<const uint16_t> indices, size_t entries);
  void end_dictionary(size_t entries, Chunk& chunk);
  void end_data(Chunk& chunk);
  template <class PageHeader>
  void end_page(int type, Bytes& page, Chunk& chunk, const PageHeader& header);

  std::span<const Leaf> leaves_;
  RowPacker packer_;
  Dictionary dictionary_;
  std::vector<uint16_t> indices_;
  Bytes dictionary_page_, page_;  // uncompressed
  Bytes bytes_;
  std::vector<Chunk> chunks_;
};

}  // namespace htmtrace::parquet
