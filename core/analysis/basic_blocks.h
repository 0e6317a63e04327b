// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the executions of each basic block, interval by interval. SimPoint and similar tools
// select the representative parts of a program from these counts.
//
// A block begins at the target of a control transfer. The block ends with a branch, or before an
// instruction that does not follow its predecessor in memory. The address of its first instruction
// identifies the block. An entry into the middle of a block therefore starts a different block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/analysis/control_flow.h"
#include "core/base/key_numbers.h"
#include "core/core_trace/events.h"

namespace htmtrace {

// A sink for CoreDecoder. The caller checks interval_over() after each instruction.
class BasicBlocks {
 public:
  struct Block {
    uint64_t address = 0;
    uint64_t entries = 0;
    uint64_t instructions = 0;  // instructions that ran in the block
    uint64_t in_interval = 0;   // the same in the current interval
  };

  explicit BasicBlocks(uint64_t interval) : interval_(interval) {}

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    if (!instruction.has_ea || !instruction.has_opcode) [[unlikely]] {
      unknown_++;
      skipped();
      return;
    }
    if (instruction.ea.value != next_ || !inside_) enter(instruction.ea.value);
    run_++;
    next_ = instruction.ea.value + (instruction.has_prefix ? 8 : 4);
    if (!instruction.has_prefix && branch_kind(instruction.opcode) != BranchKind::kNone) leave();
  }
  void stamp(const Stamp& stamp) {
    if (breaks_flow(stamp)) skipped();
  }
  void defect(const Defect&) { skipped(); }

  // The next instruction does not follow the last instruction.
  void skipped() { leave(); }

  // The interval has at least the requested number of instructions and ends with a block. The
  // caller reads touched() and then calls next_interval().
  bool interval_over() const { return interval_instructions_ >= interval_; }
  uint64_t interval_instructions() const { return interval_instructions_; }
  // Indexes in blocks() of the blocks in the interval.
  const std::vector<uint32_t>& touched() {
    count_ended();
    return touched_;
  }
  void next_interval();

  // In the order in which they first ended. The latest executions are counted by touched().
  const std::vector<Block>& blocks() const { return blocks_; }
  // Ignored instructions: without address or opcode.
  uint64_t unknown() const { return unknown_; }

 private:
  void enter(uint64_t ea);
  void leave() {
    if (!inside_) return;
    inside_ = false;
    interval_instructions_ += run_;
    if (ended_count_ == ended_.size()) count_ended();
    index_.prefetch(begin_);
    ended_[ended_count_++] = {.begin = begin_, .instructions = run_};
  }
  void count_ended();

  uint64_t interval_;
  // An execution that no block has counted yet. Programs have more blocks than a cache holds, so
  // several blocks are loaded at the same time before they are counted.
  struct Ended {
    uint64_t begin = 0;
    uint64_t instructions = 0;
    uint32_t block = 0;
  };

  KeyNumbers index_;  // indexes in blocks_, by address
  std::array<Ended, 32> ended_{};
  size_t ended_count_ = 0;
  std::vector<Block> blocks_;
  std::vector<uint32_t> touched_;
  uint64_t interval_instructions_ = 0;
  uint64_t unknown_ = 0;

  bool inside_ = false;
  uint64_t begin_ = 0;  // address of the current block
  uint64_t next_ = 0;   // address after the last instruction
  uint64_t run_ = 0;    // instructions of the current execution so far
};

}  // namespace htmtrace
