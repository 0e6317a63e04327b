// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/basic_blocks.h"

namespace htmtrace {

void BasicBlocks::count_ended() {
  for (size_t i = 0; i < ended_count_; i++) {
    const auto next = static_cast<uint32_t>(blocks_.size());
    ended_[i].block = index_.add(ended_[i].begin, next);
    if (ended_[i].block == next) blocks_.push_back({.address = ended_[i].begin});
    __builtin_prefetch(&blocks_[ended_[i].block], 1);
  }
  for (size_t i = 0; i < ended_count_; i++) {
    Block& block = blocks_[ended_[i].block];
    if (block.in_interval == 0) touched_.push_back(ended_[i].block);
    block.entries += ended_[i].entries;
    block.instructions += ended_[i].instructions;
    block.in_interval += ended_[i].instructions;
  }
  ended_count_ = 0;
}

void BasicBlocks::next_interval() {
  for (const uint32_t index : touched_) blocks_[index].in_interval = 0;
  touched_.clear();
  interval_instructions_ = 0;
}

}  // namespace htmtrace
