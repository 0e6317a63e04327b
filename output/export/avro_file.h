// SPDX-License-Identifier: GPL-2.0-or-later
// Writes rows as an Avro object container file (Apache Avro specification 1.11, "Object Container
// Files").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "output/export/avro_blocks.h"
#include "output/export/avro_row.h"
#include "output/export/row_schema.h"
#include "output/io/new_file.h"

namespace htmtrace {

// Returns the schema as JSON.
std::string avro_schema(const RowSchema& schema);

// The Avro implementation of RowParts' File.
class AvroFile {
 public:
  static constexpr std::string_view kExtension = "avro";

  struct Options {
    AvroCodec codec = default_avro_codec();
    unsigned threads = 0;  // that compress, beside the thread that calls
  };

  // Throws Error.
  AvroFile(NewFile file, const RowSchema& schema, Options options)
      : blocks_(std::move(file), avro_schema(schema), options.codec, options.threads) {}

  // The caller appends the fields of the schema, and then calls end_row() once.
  AvroRow& begin_row() { return rows_; }
  // Throws Error if a block cannot be written.
  void end_row() {
    count_++;
    if (rows_.bytes().size() >= kBlockBytes) [[unlikely]]
      end_block();
  }
  // Returns the complete file, which is not published yet. Call this once, at the end. Throws
  // Error.
  NewFile finish() {
    if (count_ != 0) end_block();
    return blocks_.finish();
  }

 private:
  // Engines read one block at once. A row takes about 60 bytes.
  static constexpr size_t kBlockBytes = 256 << 10;

  void end_block() {
    blocks_.add(rows_, count_);
    count_ = 0;
  }

  AvroBlocks blocks_;
  AvroRow rows_;
  uint64_t count_ = 0;  // rows in rows_
};

}  // namespace htmtrace
