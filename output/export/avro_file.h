// SPDX-License-Identifier: GPL-2.0-or-later
// Writes rows as an Avro object container file (Apache Avro specification 1.11, "Object Container
// Files").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "output/export/avro_blocks.h"
#include "output/export/avro_row.h"
#include "output/export/row_schema.h"
#include "output/io/block_queue.h"
#include "output/io/new_file.h"

namespace htmtrace {

// Returns the schema as JSON.
std::string avro_schema(const RowSchema& schema);

// The Avro implementation of RowParts' File.
class AvroFile {
 public:
  static constexpr std::string_view kExtension = "avro";

  struct Options {
    RowCodec codec = default_row_codec();
    unsigned threads = 0;  // that compress, beside the thread that calls
  };

  // Throws Error.
  AvroFile(NewFile file, const RowSchema& schema, Options options)
      : blocks_(std::move(file), avro_schema(schema), options.codec),
        queue_(blocks_, options.codec == RowCodec::kNull ? 0 : options.threads,
               kBlocksPerThread * options.threads + 1) {}

  // The caller appends the fields of the schema, and then calls end_row() once.
  AvroRow& begin_row() { return block_.rows; }
  // Throws Error if a block cannot be written.
  void end_row() {
    block_.count++;
    if (block_.rows.bytes().size() >= kBlockBytes) [[unlikely]]
      queue_.add(block_);
  }
  // Returns the complete file, which is not published yet. Call this once, at the end. Throws
  // Error.
  NewFile finish() {
    if (block_.count != 0) queue_.add(block_);
    queue_.finish();
    return blocks_.take_file();
  }

 private:
  // Engines read one block at once. A row takes about 60 bytes.
  static constexpr size_t kBlockBytes = 256 << 10;
  // One that the thread compresses, and one that the decoder fills meanwhile.
  static constexpr size_t kBlocksPerThread = 2;

  AvroBlocks blocks_;
  BlockQueue<AvroBlocks> queue_;
  AvroBlocks::Block block_;
};

}  // namespace htmtrace
