// SPDX-License-Identifier: GPL-2.0-or-later
// CallStacks::follow_part() (core/call_stacks/call_stacks.h). A visitor has code(Stretch) and
// gap().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/call_stacks/call_stacks.h"

namespace htmtrace {

template <class Visitor>
void CallStacks::follow_part(CallPart& part, Visitor& visitor) {
  for (const CallPart::Step& step : part.steps()) {
    if (step.gap) {
      skipped();
      visitor.gap();
      continue;
    }
    pass(step, visitor);
    if (step.run != 0) follow_run(part, step, visitor);
  }
  part.clear();
}

// Returns false if the address or the word is unknown.
inline bool CallStacks::follow(const CallPart::Step& step) {
  if (!step.has_ea || !step.has_opcode || owned::is_nobodys(step.ea)) [[unlikely]] {
    skipped();
    return false;
  }
  if (!stays(step.ea, step.modes)) arrive(step.ea, CallPart::instruction_of(step));
  pass_by(step.ea, step.opcode, step.has_prefix, step.has_data, step.data_ea);
  return true;
}

// Follows the instruction of the step, without its run.
template <class Visitor>
void CallStacks::pass(const CallPart::Step& step, Visitor& visitor) {
  const bool known = follow(step);
  const bool begins = std::exchange(begins_, false);
  if (!known) {
    visitor.gap();
    if (step.selected) unknown_++;
    return;
  }
  if (step.selected) {
    tree_.count(leaf_);
    if (begins) tree_.enter(leaf_);
  }
  visitor.code(Stretch{.begin = step.ea + owner_,
                       .instructions = 1,
                       .opcode = step.opcode,
                       .has_prefix = step.has_prefix,
                       .selected = step.selected,
                       .function = tree_.function(leaf_)});
}

template <class Visitor>
void CallStacks::follow_run(const CallPart& part, const CallPart::Step& step, Visitor& visitor) {
  const std::span<const uint32_t> words = part.words(step);
  const uint64_t first = CallPart::run_ea(step);
  const uint64_t bytes = 4 * words.size();
  // Fast path: the run stays in the function.
  if (first - area_first_ < area_bytes_ && bytes <= area_bytes_ - (first - area_first_))
      [[likely]] {
    if (step.selected) tree_.count(leaf_, words.size());
    visitor.code(Stretch{.begin = first + owner_,
                         .instructions = static_cast<uint32_t>(words.size()),
                         .opcode = words.front(),
                         .selected = step.selected,
                         .function = tree_.function(leaf_)});
    step_.next = first + bytes;
    step_.opcode = words.back();
    if (step.last_load != 0) {
      const size_t load = step.last_load - size_t{1};
      load_number(words[load], first + 4 * load);
    }
    return;
  }
  CallPart::Step next = step;
  next.has_prefix = next.has_data = false;
  for (size_t i = 0; i < words.size(); i++) {
    next.opcode = words[i];
    next.ea = first + 4 * i;
    next.la = step.la + (next.ea - step.ea);
    pass(next, visitor);
  }
}

}  // namespace htmtrace
