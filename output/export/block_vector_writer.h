// SPDX-License-Identifier: GPL-2.0-or-later
// Writes basic-block vectors in the text form that SimPoint reads. Each interval is a line: "T",
// and ":NUMBER:INSTRUCTIONS " for each block that ran. Blocks are numbered from 1 in the order of
// their first execution.
#pragma once

#include "core/analysis/basic_blocks.h"
#include "core/analysis/block_part.h"
#include "core/core_trace/events.h"
#include "output/io/text_output.h"

namespace htmtrace {

// A sink for CoreDecoder with parts: several threads can find the blocks.
class BlockVectorWriter {
 public:
  using Part = BlockPart;

  BlockVectorWriter(TextOutput& output, uint64_t interval) : output_(output), blocks_(interval) {}

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    own_.instruction(instruction);
    if (own_.is_large()) [[unlikely]]
      take(own_);
  }
  void stamp(const Stamp& stamp) { own_.stamp(stamp); }
  void defect(const Defect& defect) { own_.defect(defect); }
  void skipped() { own_.skipped(); }

  static BlockPart new_part() { return {}; }
  void take(BlockPart& part);

  // The last interval may be shorter.
  void finish();

  // Writes "number,address,entries,instructions" and a line for each block.
  void put_blocks(TextOutput& output) const;

  uint64_t intervals() const { return intervals_; }
  const BasicBlocks& blocks() const { return blocks_; }

 private:
  void put_interval();

  TextOutput& output_;
  BlockPart own_;  // the events that this sink receives itself
  BasicBlocks blocks_;
  uint64_t intervals_ = 0;
};

}  // namespace htmtrace
