// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/hot_block_part.h"

#include <algorithm>
#include <utility>

namespace htmtrace {

void HotBlockPart::skipped() {
  if (is_new_) begins_with_gap_ = true;
  is_new_ = false;
  close(std::nullopt);
  run_.stop();
  interval_.is_mixed = true;
}

// Handles a control transfer to `ea`.
void HotBlockPart::arrive(uint64_t ea) {
  close(ea);
  run_.start(ea);
  open_is_lead_ = std::exchange(is_new_, false);
  if (open_is_lead_) {
    interval_.has_lead = true;
  } else {
    interval_.enter(ea);
  }
}

StampInterval HotBlockPart::last_interval() const {
  StampInterval last = interval_;
  last.instructions = instructions_ - interval_first_;
  return last;
}

void HotBlockPart::end_interval(std::optional<uint64_t> ticks) {
  const StampInterval ended = last_interval();
  if (!std::exchange(has_stamp_, true)) {
    first_interval_ = ended;
    first_ticks_ = ticks;
  } else if (ticks && ended.instructions != 0 && !ended.is_mixed) {
    const BlockTime time = {*ticks, ended.instructions};
    if (ended.has_lead && ended.block) {
      lead_end_ = ended;
      lead_end_ticks_ = *ticks;
    } else if (ended.has_lead) {
      lead_time_ += time;
    } else if (ended.block) {
      times_.at({*ended.block}) += time;
    }
  }
  interval_ = {};
  interval_first_ = instructions_;
  // If the stamp is inside an execution, the next interval begins with the rest of this execution.
  if (run_.ended) return;
  interval_.has_lead = open_is_lead_;
  if (!open_is_lead_) interval_.block = run_.begin;
}

// Ends the current execution, if any.
void HotBlockPart::close(std::optional<uint64_t> successor) {
  if (run_.instructions == 0) return;
  executions_++;
  if (std::exchange(open_is_lead_, false)) {
    lead_ = run_;
    after_lead_ = successor;
    return;
  }
  const Key key = {run_.begin, run_.hash};
  Block& block = blocks_.at(key);
  if (block.executions == 0) {
    block.first_word = words_.size();
    block.words = run_.size;
    words_.insert(words_.end(), run_.first_words().begin(), run_.first_words().end());
  }
  block.executions++;
  block.instructions += run_.instructions;
  block.longest = std::max(block.longest, run_.instructions);
  if (!successor) return;
  block.followed++;
  Passes& passes = edges_.at({key, *successor});
  if (passes.count == 0) {
    passes.previous = block.last_edge;
    block.last_edge = static_cast<uint32_t>(edges_.rows().size());
  }
  passes.count++;
}

void HotBlockPart::clear() {
  instructions_ = unknown_ = executions_ = 0;
  lead_.reset();
  after_lead_.reset();
  blocks_.clear();
  words_.clear();
  edges_.clear();
  is_new_ = true;
  begins_with_gap_ = open_is_lead_ = false;
  interval_ = first_interval_ = {};
  interval_first_ = 0;
  has_stamp_ = false;
  times_.clear();
  lead_time_ = {};
  lead_end_.reset();
  run_.stop();
}

}  // namespace htmtrace
