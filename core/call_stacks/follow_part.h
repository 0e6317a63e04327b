// SPDX-License-Identifier: GPL-2.0-or-later
// CallStacks::follow_part() (core/call_stacks/call_stacks.h). A visitor has code(Stretch) and
// gap().
#pragma once

#include <algorithm>
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
    if (begins) tree_.enter(own_);
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
  CallPart::Step next = step;
  next.has_prefix = next.has_data = false;
  for (size_t i = 0; i < words.size();) {
    const uint64_t ea = CallPart::run_ea(step) + 4 * i;
    const uint64_t offset = ea - area_first_;
    // Fast path: most runs stay in the function.
    if (offset < area_bytes_ && area_bytes_ - offset >= 4) [[likely]] {
      const size_t count = std::min<uint64_t>(words.size() - i, (area_bytes_ - offset) / 4);
      follow_in_area(step, ea, words.subspan(i, count), visitor);
      i += count;
      continue;
    }
    next.opcode = words[i];
    next.ea = ea;
    next.la = step.la + (ea - step.ea);
    pass(next, visitor);
    i++;
  }
}

// Follows a part of the run of `step` that stays in the area.
template <class Visitor>
void CallStacks::follow_in_area(const CallPart::Step& step, uint64_t ea,
                                std::span<const uint32_t> words, Visitor& visitor) {
  if (step.selected) tree_.count(leaf_, words.size());
  visitor.code(Stretch{.begin = ea + owner_,
                       .instructions = static_cast<uint32_t>(words.size()),
                       .opcode = words.front(),
                       .selected = step.selected,
                       .function = tree_.function(leaf_)});
  step_.next = ea + 4 * words.size();
  step_.opcode = words.back();
  if (step.last_load == 0) return;
  // The words up to the last load of a number may be in other areas.
  const uint64_t load = CallPart::run_ea(step) + 4 * (step.last_load - uint64_t{1});
  if (load - ea < 4 * words.size()) load_number(words[(load - ea) / 4], load);
}

}  // namespace htmtrace
