// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/basic_blocks.h"

namespace htmtrace {

void BasicBlocks::enter(uint64_t ea) {
  leave();
  inside_ = true;
  begin_ = ea;
  run_ = 0;
}

void BasicBlocks::close() {
  const auto [place, added] = index_.try_emplace(begin_, static_cast<uint32_t>(blocks_.size()));
  if (added) blocks_.push_back({.address = begin_});
  Block& block = blocks_[place->second];
  if (block.in_interval == 0) touched_.push_back(place->second);
  block.entries++;
  block.instructions += run_;
  block.in_interval += run_;
  interval_instructions_ += run_;
}

void BasicBlocks::next_interval() {
  for (const uint32_t index : touched_) blocks_[index].in_interval = 0;
  touched_.clear();
  interval_instructions_ = 0;
}

}  // namespace htmtrace
