// SPDX-License-Identifier: GPL-2.0-or-later
// Callers that the calls in the trace do not show: the part of CallStacks for longjmp, for calls
// from before the trace, and for losses.
#include <utility>

#include "core/call_stacks/call_stacks.h"

namespace htmtrace {

// Counts the frames of `function` that a signal handler may have interrupted, and sets `last` to
// one of their indexes. Returns 2 if there are too many frames to search.
size_t CallStacks::count_frames(CallTree::Function function, size_t& last) const {
  size_t count = 0;
  for (size_t i = task_.frames.size(); i-- > 0;) {
    if (task_.frames.size() - i > kMostUnwound) return 2;
    const Frame& frame = task_.frames[i];
    if (frame.interrupted && !frame.upcall) break;
    if (frame.function != function) continue;
    last = i;
    count++;
  }
  return count;
}

// longjmp: returns to a function that has made a call, but not to the address after the call.
bool CallStacks::unwind_to(uint64_t ea) {
  const CallTree::Function function = function_at(ea);
  size_t frame = 0;
  if (function == CallTree::kUnnamed || count_frames(function, frame) == 0) return false;
  if (count_frames(function, frame) > 1) {
    begin_return(ea, function);
    return true;
  }
  drop_to(frame);
  task_.stack.forget();
  overwritten_ = false;
  task_.function = function;
  return true;
}

// The outermost known function has ended, and its caller continues at `ea`. The instruction of the
// caller at `last` was its last one before that function.
void CallStacks::reveal_caller(uint64_t ea, uint64_t last) {
  if (task_.base == kRoot || ++task_.revealed > kMostRevealed) return restart();
  task_.function = caller_at(ea);
  task_.base = reveal(task_.base, task_.function, ea - 4 + owner_, last);
  begins_ = true;  // before the trace or a gap
}

CallStacks::Node CallStacks::reveal(Node base, CallTree::Function function, uint64_t site,
                                    uint64_t last) {
  // If the function continues at its first instruction, `last` is outside the function.
  if (inlined_.wanted() && tree_.is_symbol(function) && function_at(last) == function) {
    const auto chain = inlined_.functions(inlined_.find({last + owner_}, tree_).number);
    task_.revealed += static_cast<unsigned>(chain.size());
    for (size_t i = chain.size(); i-- > 0;) {
      base = tree_.reveal(base, chain[i], std::exchange(site, CallTree::kNoSite));
    }
  }
  return tree_.reveal(base, function, site);
}

// Forgets the callers. In the kernel, the callers in the program remain known.
void CallStacks::restart() {
  restarts_++;
  begins_ = true;
  task_.function = CallTree::kUnnamed;
  task_.stack.forget();
  const size_t entry = level_ == Level::kUser ? kNoFrame : innermost_from_user();
  if (entry == kNoFrame) {
    task_.frames.clear();
    task_.choice = {};
    task_.base = tree_.add_base(kRoot);
    task_.revealed = 0;
    return;
  }
  task_.frames.resize(entry + 1);
  Frame& frame = task_.frames[entry];
  if (!frame.upcall) frame.below = tree_.add_base(frame.own);
}

}  // namespace htmtrace
