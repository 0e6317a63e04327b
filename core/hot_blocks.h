// SPDX-License-Identifier: GPL-2.0-or-later
// Which basic blocks of a core trace are hot, what they are made of, and what ran behind them.
//
// A block is what core/basic_blocks.h says: it begins where control came to, is known by the
// address of its first instruction, and ends with a branch, or where control went elsewhere without
// one. Where something was left out, what was before leads nowhere, and what follows is a new
// block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/control_flow.h"
#include "core/core_events.h"
#include "core/counts.h"
#include "core/hot_table.h"
#include "core/symbol_cursor.h"

namespace htmtrace {

struct HotBlock {
  // More than a person reads; straight code is seldom longer.
  static constexpr size_t kMostWords = 256;
  uint64_t count = 0;  // instructions that ran in it
  uint64_t executions = 0;
  uint64_t followed = 0;        // runs with a known successor
  uint64_t rewritten = 0;       // runs with other instruction words
  uint64_t longest = 0;         // instructions of the longest run
  Counts successors;            // addresses of blocks, with their owners
  std::vector<uint32_t> words;  // of the longest run, its first ones; a prefix before its suffix
};

// A sink for CoreDecoder; several traces may go through it, with skipped() behind each.
class HotBlocks {
 public:
  // Keys of blocks are their addresses with their owners (core/symbol_table.h). `symbols` must
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

  // What follows does not follow what was before.
  void skipped() {
    if (run_ != 0) close();
    run_ = 0;
    ended_ = true;
  }

  uint64_t instructions() const { return instructions_; }
  uint64_t unknown() const { return unknown_; }  // of them, without address or word: in no block
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
  uint64_t counted_until_ = 0;  // room_, when the table had this error
  uint64_t instructions_ = 0;
  uint64_t unknown_ = 0;
  uint64_t executions_ = 0;

  uint64_t begin_ = 0;  // address of the current block, with its owner
  uint64_t next_ = 0;   // where it goes on
  uint64_t run_ = 0;    // its instructions so far; 0: there is none at hand
  bool ended_ = true;   // by a branch, or there is none
  size_t size_ = 0;     // of words_
  std::array<uint32_t, HotBlock::kMostWords> words_{};
};

}  // namespace htmtrace
