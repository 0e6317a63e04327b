// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/block_part.h"

#include <utility>

namespace htmtrace {

void BlockPart::enter(uint64_t ea) {
  leave();
  open_is_lead_ = std::exchange(is_new_, false);
  inside_ = true;
  open_ = {.begin = ea};
}

void BlockPart::leave() {
  if (!inside_) return;
  inside_ = false;
  if (std::exchange(open_is_lead_, false)) {
    lead_ = open_;
    return;
  }
  ended_.push_back(open_);
  ended_instructions_ += open_.instructions;
  Counts& block = blocks_.at({open_.begin});
  block.entries++;
  block.instructions += open_.instructions;
}

void BlockPart::clear() {
  lead_.reset();
  ended_.clear();
  blocks_.clear();
  ended_instructions_ = 0;
  unknown_ = 0;
  is_new_ = true;
  begins_with_gap_ = inside_ = open_is_lead_ = false;
}

}  // namespace htmtrace
