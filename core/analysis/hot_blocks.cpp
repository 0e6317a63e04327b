// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/hot_blocks.h"

#include <algorithm>

namespace htmtrace {

// Handles a control transfer to `ea`, and closes the current block, if any.
void HotBlocks::arrive(uint64_t ea) {
  if (run_ != 0) {
    HotBlock& before = close();
    before.followed++;
    before.successors.add(ea, room_);
  }
  begin_ = ea;
  run_ = 0;
  size_ = 0;
  ended_ = false;
}

// Recounts the room after the table dropped blocks with their lists.
void HotBlocks::recount_room() {
  size_t places = entries_ * kListPlaces;
  blocks_.visit([&](uint64_t, const HotBlock& block) {
    places -= std::min(places, block.successors.places());
  });
  room_.places = places;
  counted_until_ = blocks_.error();
}

// Ends the current block.
HotBlock& HotBlocks::close() {
  HotBlock& block = blocks_.at(begin_);
  if (blocks_.error() != counted_until_) [[unlikely]]
    recount_room();
  executions_++;
  block.count += run_;
  block.executions++;
  // Traces do not distinguish processes, and kernels change their own code.
  const size_t both = std::min(size_, block.words.size());
  if (!std::equal(words_.begin(), words_.begin() + static_cast<ptrdiff_t>(both),
                  block.words.begin())) {
    block.rewritten++;
  } else if (run_ > block.longest) {
    block.words.assign(words_.begin(), words_.begin() + static_cast<ptrdiff_t>(size_));
  }
  block.longest = std::max(block.longest, run_);
  return block;
}

}  // namespace htmtrace
