// SPDX-License-Identifier: GPL-2.0-or-later
// The basic blocks in a part of a core trace, with their words and successors. HotBlocks adds up
// the parts. Threads can follow different parts at the same time.
//
// core/analysis/block_part.h defines a block. After a gap in the trace, the last block has no
// successor, and the next instruction starts a new block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/analysis/block_time.h"
#include "core/analysis/control_flow.h"
#include "core/analysis/symbol_cursor.h"
#include "core/base/arrival_table.h"
#include "core/base/spread.h"
#include "core/core_trace/events.h"

namespace htmtrace {

// An execution of a block: the instructions so far, and their first words.
struct BlockRun {
  // Longer than a readable block; straight-line code is seldom longer.
  static constexpr size_t kMostWords = 256;

  uint64_t begin = 0;         // with its owner (core/analysis/symbol_table.h)
  uint64_t next = 0;          // address after the last instruction
  uint64_t instructions = 0;  // 0: no execution
  bool ended = true;          // a branch ended the block
  uint64_t hash = 0;          // of the used words
  size_t size = 0;            // number of used words
  std::array<uint32_t, kMostWords> words{};

  std::span<const uint32_t> first_words() const { return std::span(words).first(size); }
  void put(uint32_t word) {
    if (size >= kMostWords) return;
    words[size++] = word;
    hash = (hash + word) * kHashSecret.factor;
  }
  void start(uint64_t ea) {
    begin = ea;
    instructions = hash = size = 0;
    ended = false;
  }
  void stop() {
    instructions = 0;
    ended = true;
  }
};

// A sink for CoreDecoder.
class HotBlockPart {
 public:
  // The tables of a part with up to this number of executions stay in a processor's cache.
  static constexpr size_t kMostExecutions = 1 << 14;

  // Programs change their code, traces do not distinguish processes, and an interrupt ends a block
  // early. Executions with different words are therefore counted apart.
  struct Key {
    uint64_t begin = 0;  // with its owner
    uint64_t words = 0;  // the hash of the words
    bool operator==(const Key&) const = default;
    uint64_t hash() const { return begin ^ words; }
  };
  struct Block {
    uint64_t executions = 0;
    uint64_t instructions = 0;
    uint64_t longest = 0;   // number of instructions of the longest execution
    uint64_t followed = 0;  // executions with a known successor
    size_t first_word = 0;  // see words()
    size_t words = 0;
    uint32_t last_edge = 0;  // see visit_edges()
  };
  struct Edge {
    Key from;
    uint64_t to = 0;  // begin of the next block, with its owner
    bool operator==(const Edge&) const = default;
    // Without the secret factor, a trace could choose edges with equal hashes.
    uint64_t hash() const { return from.hash() ^ to * kHashSecret.factor; }
  };

  // `symbols` must outlive this object.
  explicit HotBlockPart(const SymbolTable& symbols) : cursor_(symbols) {}

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
    if (run_.ended || ea != run_.next) arrive(owned_ea.value);
    run_.instructions++;
    if (instruction.has_prefix) {
      run_.put(instruction.prefix);
      run_.next = ea + 8;
    } else {
      run_.next = ea + 4;
      run_.ended = branch_kind(instruction.opcode) != BranchKind::kNone;
    }
    run_.put(instruction.opcode);
  }
  void stamp(const Stamp& stamp) {
    if (breaks_flow(stamp)) skipped();
    end_interval(ticks_of(stamp));
  }
  void defect(const Defect&) { skipped(); }

  // The next instruction does not follow the last instruction.
  void skipped();

  // Returns true if the caller should add up the part and clear it.
  bool is_large() const { return executions_ >= kMostExecutions; }

  uint64_t instructions() const { return instructions_; }
  uint64_t unknown() const { return unknown_; }  // instructions that are in no block

  // Returns true if the last execution of the preceding part has no successor.
  bool begins_with_gap() const { return begins_with_gap_; }
  // The first execution, if it is over and no gap precedes it. It continues the last execution of
  // the preceding part, or is its successor.
  const std::optional<BlockRun>& lead() const { return lead_; }
  std::optional<uint64_t> after_lead() const { return after_lead_; }  // its successor, if any
  // The other executions that are over, by block.
  const ArrivalTable<Key, Block>& blocks() const { return blocks_; }
  std::span<const uint32_t> words(const Block& block) const {
    return std::span(words_).subspan(block.first_word, block.words);
  }
  // Calls visit(to, count) for each successor of the block.
  template <class Visit>
  void visit_edges(const Block& block, const Visit& visit) const {
    for (uint32_t number = block.last_edge; number != 0;) {
      const auto& [edge, passes] = edges_.rows()[number - 1];
      visit(edge.to, passes.count);
      number = passes.previous;
    }
  }
  // The last execution, if its successor is not known yet.
  const BlockRun& open() const { return run_; }
  bool open_is_lead() const { return run_.instructions != 0 && open_is_lead_; }

  // The first interval of the part continues the last interval of the preceding part, and the first
  // stamp ends it. A part without a stamp has only last_interval().
  bool has_stamp() const { return has_stamp_; }
  const StampInterval& first_interval() const { return first_interval_; }
  std::optional<uint64_t> first_ticks() const { return first_ticks_; }
  // The time of each block, by its address. This is the sum of all later intervals that have known
  // ticks and belong to one block.
  const ArrivalTable<PlainKey, BlockTime>& times() const { return times_; }
  // The time of the later intervals that have known ticks and are inside the first execution.
  const BlockTime& lead_time() const { return lead_time_; }
  // The later interval that contains the end of the first execution, and then instructions of one
  // block. Nothing if no interval does so, or if its ticks are unknown.
  const std::optional<StampInterval>& lead_end() const { return lead_end_; }
  uint64_t lead_end_ticks() const { return lead_end_ticks_; }
  StampInterval last_interval() const;

  // Keeps the allocated memory and the known names.
  void clear();

 private:
  void arrive(uint64_t ea);
  void close(std::optional<uint64_t> successor);
  void end_interval(std::optional<uint64_t> ticks);

  struct Passes {
    uint64_t count = 0;
    uint32_t previous = 0;  // number of the block's previous edge, counted from 1; 0: none
  };

  SymbolCursor cursor_;
  uint64_t instructions_ = 0;
  uint64_t unknown_ = 0;
  uint64_t executions_ = 0;
  std::optional<BlockRun> lead_;
  std::optional<uint64_t> after_lead_;
  ArrivalTable<Key, Block> blocks_;
  std::vector<uint32_t> words_;
  ArrivalTable<Edge, Passes> edges_;
  bool is_new_ = true;  // no gap and no execution yet
  bool begins_with_gap_ = false;
  bool open_is_lead_ = false;
  StampInterval interval_;  // the current interval; last_interval() adds its number of instructions
  uint64_t interval_first_ = 0;  // instructions_ at the beginning of the interval
  bool has_stamp_ = false;
  StampInterval first_interval_;
  std::optional<uint64_t> first_ticks_;
  ArrivalTable<PlainKey, BlockTime> times_;
  BlockTime lead_time_;
  std::optional<StampInterval> lead_end_;
  uint64_t lead_end_ticks_ = 0;
  BlockRun run_;
};

}  // namespace htmtrace
