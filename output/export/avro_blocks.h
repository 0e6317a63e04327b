// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the header and the blocks of an Avro object container file (Apache Avro specification
// 1.11, "Object Container Files").
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "output/export/avro_row.h"
#include "output/export/row_codec.h"
#include "output/io/new_file.h"

namespace htmtrace {

// The Avro implementation of BlockQueue's File.
class AvroBlocks {
 public:
  struct Block {
    void clear() {
      rows.clear();
      count = 0;
    }
    AvroRow rows;
    uint64_t count = 0;
  };
  struct Encoder {
    explicit Encoder(const AvroBlocks& blocks) : packer(blocks.codec_, RowFormat::kAvro) {}
    void encode(const Block& block) { stored = packer.pack(block.rows.bytes()); }
    RowPacker packer;
    std::span<const char> stored;
  };

  // Throws Error.
  AvroBlocks(NewFile file, std::string_view schema, RowCodec codec);

  static Block empty_block() { return {}; }
  // Throws Error.
  void write(const Block& block, const Encoder& encoder);
  NewFile take_file() { return std::move(file_); }

 private:
  NewFile file_;
  RowCodec codec_;
};

}  // namespace htmtrace
