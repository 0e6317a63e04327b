// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks/call_graph.h"

#include "core/analysis/control_flow.h"
#include "core/call_stacks/follow_part.h"

namespace htmtrace {
namespace {

// Returns true for b, bc, bcctr and bctar without link.
bool is_jump(uint32_t opcode) {
  constexpr unsigned kBcctr = 528, kBctar = 560;
  if (branch_kind(opcode) == BranchKind::kNone || sets_link(opcode)) return false;
  if (is_direct_branch(opcode)) return true;
  const unsigned extended = control_flow::extended(opcode);
  return control_flow::primary(opcode) == 19 && (extended == kBcctr || extended == kBctar);
}

}  // namespace

void CallGraph::take(CallPart& part) {
  stacks_.follow_part(part, counts_);
}

void CallGraph::end_trace() {
  take(part_);
  counts_.gap();
}

uint64_t CallGraph::instructions() const {
  uint64_t sum = stacks_.unknown();
  for (CallTree::Node node = 0; node < tree().size(); node++) sum += tree().instructions(node);
  return sum;
}

void CallGraph::Counts::begin_block(const CallStacks::Stretch& stretch) {
  close();
  open = {.begin = stretch.begin,
          .function = stretch.function,
          .instructions = stretch.instructions,
          .has_prefix = stretch.has_prefix};
  next = open.second() + 4 * (uint64_t{stretch.instructions} - 1);
  if (next < open.begin) next = 0;
}

void CallGraph::Counts::close() {
  if (open.instructions == 0) return;
  uint32_t& number = recent[spread(open.begin) >> (64 - kRecentBits)];
  if (number < executions.size() && blocks.rows()[number].key == open) [[likely]] {
    executions[number]++;
  } else {
    count_block(number);
  }
  open.instructions = 0;
  next = 1;
}

// Counts the block, and sets `number` to its position.
void CallGraph::Counts::count_block(uint32_t& number) {
  const Number* known = blocks.find(open);
  if (known == nullptr && executions.size() < kMostBlocks) {
    Number& added = blocks.at(open);
    added.value = static_cast<uint32_t>(executions.size());
    executions.push_back(0);
    known = &added;
  }
  if (known == nullptr) {
    without_block += open.instructions;
    return;
  }
  number = known->value;
  executions[number]++;
}

// A branch ends its block, so that each block begins where control arrived.
void CallGraph::Counts::look_for_jump(const CallStacks::Stretch& stretch) {
  if (stretch.has_prefix || branch_kind(stretch.opcode) == BranchKind::kNone) return;
  close();
  if (!is_jump(stretch.opcode)) return;
  jumps_from_last = true;
  last = {.from = stretch.begin, .from_function = stretch.function};
  last_opcode = stretch.opcode;
}

// The next instruction shows where the branch went. After an interrupt, it shows nothing.
void CallGraph::Counts::end_jump(const CallStacks::Stretch& stretch) {
  jumps_from_last = false;
  const uint64_t from = owned::plain(last.from), to = owned::plain(stretch.begin);
  const bool conditional = branch_kind(last_opcode) == BranchKind::kConditional;
  if (conditional && to == from + 4) return;
  const bool is_taken = is_direct_branch(last_opcode) ? to == direct_target(last_opcode, from)
                                                      : !is_interrupt_vector(to);
  if (!is_taken) return;
  last.to = stretch.begin;
  last.to_function = stretch.function;
  if (jumps.rows().size() >= kMostJumps && jumps.find(last) == nullptr) {
    jumps_left_out++;
    return;
  }
  Taken& taken = jumps.at(last);
  taken.count++;
  taken.is_conditional = conditional;
}

}  // namespace htmtrace
