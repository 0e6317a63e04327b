// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/address_counts.h"

#include <algorithm>

namespace htmtrace {

// The next instruction shows where the branch went. After an interrupt, the next instruction does
// not show the outcome.
void AddressCounts::end_branch(const Instruction& next) {
  if (branch_ == kNoBranch) return;
  const uint64_t key = std::exchange(branch_, kNoBranch);
  if (!next.has_ea || !counts_.contains(key)) return;
  const uint64_t ea = next.ea.value;
  AddressCount& count = counts_.at(key);
  const bool is_direct = is_direct_branch(branch_word_);
  if (branch_kind(branch_word_) == BranchKind::kConditional && ea == branch_ea_ + 4) {
    count.not_taken++;
  } else if (is_direct ? ea == direct_target(branch_word_, branch_ea_) : !is_interrupt_vector(ea)) {
    count.taken++;
  }
}

void AddressCounts::instruction(const Instruction& instruction) {
  end_branch(instruction);
  instructions_++;
  between_++;
  data_accesses_ += instruction.data_count;
  const EffectiveAddr address = cursor_.code(instruction);
  if (!instruction.has_ea || owned::is_nobodys(instruction.ea.value)) {
    unknown_++;
    return;
  }
  AddressCount& count = counts_.at(address.value);
  if (count.count++ == 0) {
    count.has_opcode = instruction.has_opcode;
    count.has_prefix = instruction.has_prefix;
    count.opcode = instruction.opcode;
    count.prefix = instruction.prefix;
  } else if (instruction.has_opcode && count.has_opcode && count.opcode != instruction.opcode) {
    count.rewritten = true;
  }
  for (unsigned i = 0; i < instruction.data_count; i++) {
    count.data++;
    const DataAccess& access = instruction.data[i];
    const uint64_t ea = cursor_.data(access).value;
    if (owned::is_nobodys(access.ea.value)) continue;
    if (owned::plain(ea) < owned::plain(count.lowest_ea)) count.lowest_ea = ea;
    if (owned::plain(ea) >= owned::plain(count.highest_ea)) count.highest_ea = ea;
  }
  if (since_stamp_.size() < kMostBetween) since_stamp_.push_back(address.value);
  if (instruction.has_opcode && !instruction.has_prefix &&
      branch_kind(instruction.opcode) != BranchKind::kNone) {
    branch_ = address.value;
    branch_ea_ = instruction.ea.value;
    branch_word_ = instruction.opcode;
  }
}

void AddressCounts::stamp(const Stamp& stamp) {
  if (breaks_flow(stamp)) skipped();
  if (stamp.elapsed != 0 && between_ != 0) {
    has_ticks_ = true;
    if (between_ > kMostBetween) {
      unshared_ticks_ += stamp.elapsed;
    } else {
      // Without the rest, the ticks of many instructions with few ticks each would disappear.
      const uint64_t parts = stamp.elapsed * AddressCount::kTickParts + rest_parts_;
      const uint64_t share = parts / between_;
      rest_parts_ = parts % between_;
      for (const uint64_t key : since_stamp_) {
        if (counts_.contains(key)) counts_.at(key).tick_parts += share;
      }
    }
  }
  between_ = 0;
  since_stamp_.clear();
}

}  // namespace htmtrace
