// SPDX-License-Identifier: GPL-2.0-or-later
// Writes rows as a Parquet file (Apache Parquet format 2.10).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "output/export/parquet_group.h"
#include "output/export/parquet_rows.h"
#include "output/export/row_schema.h"
#include "output/io/block_queue.h"
#include "output/io/new_file.h"

namespace htmtrace {

// The groups of rows in a file: BlockQueue's File.
class ParquetGroups {
 public:
  using Block = parquet::Rows;
  struct Encoder : parquet::GroupEncoder {
    explicit Encoder(const ParquetGroups& groups)
        : parquet::GroupEncoder(groups.leaves_, groups.codec_) {}
  };

  // Throws Error. `schema` must outlive this object.
  ParquetGroups(NewFile file, const RowSchema& schema, RowCodec codec);

  Block empty_block() const { return Block(leaves_.size()); }
  // Throws Error.
  void write(const Block& rows, const Encoder& encoder);
  // Writes the footer. Returns the complete file. Throws Error.
  NewFile finish();

 private:
  struct Group {
    uint64_t begin;
    uint64_t rows;
    std::vector<parquet::Chunk> chunks;
  };

  parquet::Bytes footer() const;

  NewFile file_;
  const RowSchema& schema_;
  RowCodec codec_;
  std::vector<parquet::Leaf> leaves_;
  std::vector<Group> groups_;
  uint64_t position_ = 0;  // bytes in the file
};

// The Parquet implementation of RowParts' File.
class ParquetFile {
 public:
  static constexpr std::string_view kExtension = "parquet";

  struct Options {
    RowCodec codec = default_row_codec();
    unsigned threads = 0;  // that encode, beside the thread that calls
  };

  // Throws Error. `schema` must outlive this object.
  ParquetFile(NewFile file, const RowSchema& schema, Options options)
      : groups_(std::move(file), schema, options.codec),
        queue_(groups_, options.threads, options.threads + 2),
        rows_(groups_.empty_block()) {}

  // The caller appends the fields of the schema, and then calls end_row() once.
  parquet::Rows& begin_row() { return rows_; }
  // Throws Error if a group of rows cannot be written.
  void end_row() {
    rows_.end_row();
    if (rows_.count() == kGroupRows || rows_.is_full()) [[unlikely]]
      queue_.add(rows_);
  }
  // Returns the complete file, which is not published yet. Call this once, at the end. Throws
  // Error.
  NewFile finish() {
    if (rows_.count() != 0) queue_.add(rows_);
    queue_.finish();
    return groups_.finish();
  }

 private:
  // Engines read groups in parallel, and skip groups whose bounds exclude the requested rows. A
  // group takes about 15 MiB of memory.
  static constexpr size_t kGroupRows = 1 << 17;

  ParquetGroups groups_;
  BlockQueue<ParquetGroups> queue_;
  parquet::Rows rows_;
};

}  // namespace htmtrace
