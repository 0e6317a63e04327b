// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the hot basic blocks of a core trace, their instructions, and their successors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/analysis/block_time.h"
#include "core/analysis/hot_block_part.h"
#include "core/base/counts.h"
#include "core/base/hot_table.h"
#include "core/core_trace/events.h"

namespace htmtrace {

struct HotBlock {
  uint64_t count = 0;  // instructions that ran in the block
  uint64_t executions = 0;
  uint64_t followed = 0;   // executions with a known successor
  uint64_t rewritten = 0;  // executions with different instruction words
  uint64_t longest = 0;    // number of instructions of the longest execution
  BlockTime time;          // of the intervals whose instructions all belong to the block
  Counts successors;       // addresses of the next blocks, with their owners
  std::vector<uint32_t>
      words;  // the first words of the longest execution; a prefix precedes its suffix
};

// A sink for CoreDecoder with parts: several threads can find the blocks. It accepts several
// traces; call end_trace() after each trace.
class HotBlocks {
 public:
  using Part = HotBlockPart;

  // The key of a block is its address with its owner (core/analysis/symbol_table.h). `symbols` must
  // outlive this object. The lists of successors may use kListPlaces entries for each block.
  HotBlocks(size_t entries, const SymbolTable& symbols)
      : entries_(entries),
        symbols_(symbols),
        own_(symbols),
        blocks_(entries),
        room_{entries * kListPlaces} {}
  static constexpr size_t kListPlaces = 8;

  void instruction(const Instruction& instruction) {
    own_.instruction(instruction);
    if (own_.is_large()) [[unlikely]]
      take(own_);
  }
  void stamp(const Stamp& stamp) { own_.stamp(stamp); }
  void defect(const Defect& defect) { own_.defect(defect); }
  void skipped() { own_.skipped(); }
  void end_trace();

  HotBlockPart new_part() const { return HotBlockPart(symbols_); }
  void take(HotBlockPart& part);

  uint64_t instructions() const { return instructions_; }
  uint64_t unknown() const {
    return unknown_;
  }  // instructions without address or opcode, which are in no block
  uint64_t executions() const { return executions_; }
  const HotTable<HotBlock>& blocks() const { return blocks_; }

 private:
  void take_run(const BlockRun& run);
  void leave();
  void leave_to(uint64_t ea);
  HotBlock& close();
  HotBlock& block_at(uint64_t begin);
  static void put_words(std::span<const uint32_t> words, uint64_t executions, uint64_t longest,
                        HotBlock& block);
  void take_time(const HotBlockPart& part, std::optional<uint64_t> lead);
  void recount_room();

  size_t entries_;
  const SymbolTable& symbols_;
  HotBlockPart own_;  // the events that this sink receives itself
  HotTable<HotBlock> blocks_;
  Counts::Room room_;
  uint64_t counted_until_ = 0;  // the table's error at the last recount of room_
  uint64_t instructions_ = 0;
  uint64_t unknown_ = 0;
  uint64_t executions_ = 0;
  BlockRun run_;  // the last execution: the next part may continue it
  // The last interval so far: the next part may continue it. Nothing if no stamp precedes it.
  std::optional<StampInterval> interval_;
};

}  // namespace htmtrace
