// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the executions of each basic block, interval by interval. SimPoint and similar tools
// select the representative parts of a program from these counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/analysis/block_part.h"
#include "core/base/key_numbers.h"

namespace htmtrace {

class BasicBlocks {
 public:
  struct Block {
    uint64_t address = 0;
    uint64_t entries = 0;
    uint64_t instructions = 0;  // instructions that ran in the block
    uint64_t in_interval = 0;   // the same in the current interval
  };

  explicit BasicBlocks(uint64_t interval) : interval_(interval) {}

  // Adds the next part of the trace. Calls at_interval() after the block in which the interval
  // reaches the requested number of instructions. at_interval() reads touched() and then calls
  // next_interval().
  template <class AtInterval>
  void take(const BlockPart& part, const AtInterval& at_interval) {
    unknown_ += part.unknown();
    if (part.begins_with_gap()) leave(at_interval);
    if (part.lead()) {
      enter_lead(*part.lead(), at_interval);
      leave(at_interval);
    }
    if (!part.ended().empty()) leave(at_interval);
    if (interval_instructions_ + part.ended_instructions() < interval_) {
      for (const auto& [begin, counts] : part.blocks().rows()) {
        add({begin.value, counts.entries, counts.instructions});
      }
    } else {
      for (const BlockPart::Execution& ended : part.ended()) {
        add({ended.begin, 1, ended.instructions});
        if (interval_instructions_ >= interval_) at_interval();
      }
    }
    if (const auto open = part.open()) {
      if (part.open_is_lead()) {
        enter_lead(*open, at_interval);
      } else {
        leave(at_interval);
        open_ = *open;
      }
      inside_ = true;
      next_ = part.next();
    }
  }
  // Ends the last execution. Call this at the end of the trace.
  template <class AtInterval>
  void finish(const AtInterval& at_interval) {
    leave(at_interval);
  }

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
  // Executions that no block has counted yet. Programs have more blocks than a cache holds, so
  // several blocks are loaded at the same time before they are counted.
  struct Ended {
    uint64_t begin = 0;
    uint64_t entries = 0;
    uint64_t instructions = 0;
    uint32_t block = 0;
  };

  // Adds the lead of a part, which continues the open execution or ends it.
  template <class AtInterval>
  void enter_lead(const BlockPart::Execution& lead, const AtInterval& at_interval) {
    if (inside_ && lead.begin == next_) {
      open_.instructions += lead.instructions;
      return;
    }
    leave(at_interval);
    open_ = lead;
    inside_ = true;
  }

  template <class AtInterval>
  void leave(const AtInterval& at_interval) {
    if (!inside_) return;
    inside_ = false;
    add({open_.begin, 1, open_.instructions});
    if (interval_instructions_ >= interval_) at_interval();
  }

  void add(const Ended& ended) {
    interval_instructions_ += ended.instructions;
    if (ended_count_ == ended_.size()) count_ended();
    index_.prefetch(ended.begin);
    ended_[ended_count_++] = ended;
  }
  void count_ended();

  uint64_t interval_;
  KeyNumbers index_;  // indexes in blocks_, by address
  std::array<Ended, 32> ended_{};
  size_t ended_count_ = 0;
  std::vector<Block> blocks_;
  std::vector<uint32_t> touched_;
  uint64_t interval_instructions_ = 0;
  uint64_t unknown_ = 0;

  bool inside_ = false;
  BlockPart::Execution open_;  // valid if inside_
  uint64_t next_ = 0;          // address after its last instruction
};

}  // namespace htmtrace
