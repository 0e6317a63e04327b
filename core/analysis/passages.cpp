// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/passages.h"

namespace htmtrace {

void Passages::at(const TracePlace& place) {
  now_ = place.ticks;
  number_ = place.instructions;
  if (stamped_ && open_ && !open_->ticks) open_->ticks = now_;
}

void Passages::stamp(const Stamp& stamp) {
  if (stamp.elapsed != 0) stamped_ = true;
  if (stamp.losses.elapsed_overflow) overflowed_ = true;
  if (breaks_flow(stamp) || stamp.losses.any()) cut();
}

void Passages::pass(const Instruction& instruction) {
  const uint64_t bytes = instruction.has_prefix ? 8 : 4;
  next_ea_ = instruction.has_ea ? instruction.ea.value + bytes : 0;
  stamped_ = false;
}

void Passages::instruction(const Instruction& instruction) {
  const EffectiveAddr address = cursor_.code(instruction);
  if (instruction.has_ea && !owned::is_nobodys(instruction.ea.value)) {
    const bool falls = instruction.ea.value == next_ea_;
    // An instruction can end one passage and start the next.
    if (to_.runs_at(address, falls)) {
      ends_++;
      if (open_) end_passage();
    }
    if (from_.runs_at(address, falls)) {
      begins_++;
      if (open_) begun_again_++;
      open_ = {.instructions = selected_, .number = number_, .ticks = {}, .exact = stamped_};
      if (stamped_) open_->ticks = now_;
      overflowed_ = false;
    }
  }
  selected_++;
  pass(instruction);
}

void Passages::end_passage() {
  const auto keep_longest = [this](std::optional<PassagePlace>& longest, uint64_t length) {
    if (longest && length <= longest->length) return;
    longest = {.begin = open_->number, .end = number_, .trace = trace_, .length = length};
  };
  const uint64_t instructions = selected_ - open_->instructions;
  const uint64_t ticks = ticks_since_begin();
  keep_longest(most_instructions_, instructions);
  keep_longest(most_ticks_, ticks);
  instructions_.add(instructions, true);
  ticks_.add(ticks, open_->exact && stamped_ && !overflowed_);
  open_.reset();
}

// The end of the passage may be in the lost part. It did not execute before the loss, so the length
// up to the loss is a lower bound.
void Passages::cut() {
  next_ea_ = 0;
  if (!open_) return;
  instructions_.add(selected_ - open_->instructions, false);
  ticks_.add(ticks_since_begin(), false);
  open_.reset();
  cut_++;
}

void Passages::end_trace() {
  cut();
  trace_++;
  now_ = 0;
  stamped_ = false;
}

}  // namespace htmtrace
