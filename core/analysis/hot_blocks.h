// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the hot basic blocks of a core trace, their instructions, and their successors.
//
// core/analysis/basic_blocks.h defines a block. After a gap in the trace, the last block has no
// successor, and the next instruction starts a new block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/analysis/control_flow.h"
#include "core/analysis/symbol_cursor.h"
#include "core/base/counts.h"
#include "core/base/hot_table.h"
#include "core/core_trace/events.h"

namespace htmtrace {

struct HotBlock {
  // Longer than a readable block; straight-line code is seldom longer.
  static constexpr size_t kMostWords = 256;
  uint64_t count = 0;  // instructions that ran in the block
  uint64_t executions = 0;
  uint64_t followed = 0;   // executions with a known successor
  uint64_t rewritten = 0;  // executions with different instruction words
  uint64_t longest = 0;    // number of instructions of the longest execution
  Counts successors;       // addresses of the next blocks, with their owners
  std::vector<uint32_t>
      words;  // the first words of the longest execution; a prefix precedes its suffix
};

// A sink for CoreDecoder. It accepts several traces; call skipped() after each trace.
class HotBlocks {
 public:
  // The key of a block is its address with its owner (core/analysis/symbol_table.h). `symbols` must
  // outlive this object. The lists of successors may use kListPlaces entries for each block.
  HotBlocks(size_t entries, const SymbolTable& symbols)
      : entries_(entries), blocks_(entries), cursor_(symbols), room_{entries * kListPlaces} {}
  static constexpr size_t kListPlaces = 8;

  void instruction(const Instruction& instruction) {
    instructions_++;
    if (!instruction.has_ea || !instruction.has_opcode || owned::is_nobodys(instruction.ea.value))
        [[unlikely]] {
      unknown_++;
      skipped();
      return;
    }
    const uint64_t ea = instruction.ea.value;
    const EffectiveAddr owned_ea = cursor_.code(instruction);
    if (ended_ || ea != next_) arrive(owned_ea.value);
    run_++;
    if (instruction.has_prefix) {
      put(instruction.prefix);
      next_ = ea + 8;
    } else {
      next_ = ea + 4;
      ended_ = branch_kind(instruction.opcode) != BranchKind::kNone;
    }
    put(instruction.opcode);
  }
  void stamp(const Stamp& stamp) {
    if (breaks_flow(stamp)) skipped();
  }
  void defect(const Defect&) { skipped(); }

  // The next instruction does not follow the last instruction.
  void skipped() {
    if (run_ != 0) close();
    run_ = 0;
    ended_ = true;
  }

  uint64_t instructions() const { return instructions_; }
  uint64_t unknown() const {
    return unknown_;
  }  // instructions without address or opcode, which are in no block
  uint64_t executions() const { return executions_; }
  const HotTable<HotBlock>& blocks() const { return blocks_; }

 private:
  void put(uint32_t word) {
    if (size_ < HotBlock::kMostWords) words_[size_++] = word;
  }
  void arrive(uint64_t ea);
  HotBlock& close();
  void recount_room();

  size_t entries_;
  HotTable<HotBlock> blocks_;
  SymbolCursor cursor_;
  Counts::Room room_;
  uint64_t counted_until_ = 0;  // the table's error at the last recount of room_
  uint64_t instructions_ = 0;
  uint64_t unknown_ = 0;
  uint64_t executions_ = 0;

  uint64_t begin_ = 0;  // address of the current block, with its owner
  uint64_t next_ = 0;   // address after the last instruction
  uint64_t run_ = 0;    // instructions of the current block so far; 0: no current block
  bool ended_ = true;   // a branch ended the block, or no block is current
  size_t size_ = 0;     // number of used words_
  std::array<uint32_t, HotBlock::kMostWords> words_{};
};

}  // namespace htmtrace
