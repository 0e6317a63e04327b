// SPDX-License-Identifier: GPL-2.0-or-later
// How often each basic block ran, interval by interval: what SimPoint and its like choose the
// representative parts of a program by.
//
// A block begins where control came to and ends with a branch, or where control went elsewhere
// without one. It is known by the address of its first instruction: one that is entered in its
// middle is another block there.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/control_flow.h"
#include "core/core_events.h"

namespace htmtrace {

// A sink for CoreDecoder. `Next` has interval(const BasicBlocks&), which is called at the end of
// each.
class BasicBlocks {
 public:
  struct Block {
    uint64_t address = 0;
    uint64_t entries = 0;
    uint64_t instructions = 0;  // all that ran in it
    uint64_t in_interval = 0;   // and in the one at hand
  };

  explicit BasicBlocks(uint64_t interval) : interval_(interval) {}

  void instruction(const Instruction& instruction) {
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

  // What follows does not follow what was before.
  void skipped() { leave(); }

  // An interval is over: as many instructions as asked for, up to the end of the last block. The
  // caller takes touched() and then calls next_interval().
  bool interval_over() const { return interval_instructions_ >= interval_; }
  uint64_t interval_instructions() const { return interval_instructions_; }
  // Indexes of blocks() that ran in it.
  const std::vector<uint32_t>& touched() const { return touched_; }
  void next_interval();

  // In the order in which they were met.
  const std::vector<Block>& blocks() const { return blocks_; }
  // Left out: without address or instruction word.
  uint64_t unknown() const { return unknown_; }

 private:
  void enter(uint64_t ea);
  void leave() {
    if (!inside_) return;
    inside_ = false;
    close();
  }
  void close();

  uint64_t interval_;
  std::unordered_map<uint64_t, uint32_t> index_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> touched_;
  uint64_t interval_instructions_ = 0;
  uint64_t unknown_ = 0;

  bool inside_ = false;
  uint64_t begin_ = 0;  // of the block at hand
  uint64_t next_ = 0;   // where it goes on
  uint64_t run_ = 0;    // its instructions so far
};

}  // namespace htmtrace
