// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/block_vector_writer.h"

#include <fmt/core.h>

#include "output/io/put_text.h"

namespace htmtrace {

void BlockVectorWriter::put_interval() {
  output_.put("T");
  for (const uint32_t index : blocks_.touched()) {
    char* at = put_text(output_.room(), ":");
    at = put_decimal(at, uint64_t{index} + 1);
    *at++ = ':';
    at = put_decimal(at, blocks_.blocks()[index].in_interval);
    *at++ = ' ';
    output_.commit(at);
  }
  output_.put("\n");
  intervals_++;
  blocks_.next_interval();
}

void BlockVectorWriter::take(BlockPart& part) {
  blocks_.take(part, [this] { put_interval(); });
  part.clear();
}

void BlockVectorWriter::finish() {
  take(own_);
  blocks_.finish([this] { put_interval(); });
  if (blocks_.interval_instructions() != 0) put_interval();
}

void BlockVectorWriter::put_blocks(TextOutput& output) const {
  output.put("number,address,entries,instructions\n");
  uint64_t number = 0;
  for (const BasicBlocks::Block& block : blocks_.blocks()) {
    output.put(fmt::format("{},0x{:016x},{},{}\n", ++number, block.address, block.entries,
                           block.instructions));
  }
}

}  // namespace htmtrace
