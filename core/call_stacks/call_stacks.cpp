// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks/call_stacks.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/call_stacks/follow_part.h"

namespace htmtrace {

// The granularity in bytes of name lookups in code without names.
constexpr uint64_t kCodeLineBytes = 128;

namespace {

// The number of areas that the tracker remembers: functions, or their parts that have the same
// inlined functions.
constexpr unsigned kFunctionBits = 12, kPartBits = 15;

struct NoVisitor {
  void code(const CallStacks::Stretch&) {}
  void gap() {}
};

}  // namespace

CallStacks::CallStacks(const SymbolTable& symbols, CallTree::Detail detail,
                       FindInlined find_inlined)
    : symbols_(symbols),
      cursor_(symbols),
      tree_(detail),
      areas_(find_inlined ? kPartBits : kFunctionBits),
      inlined_(std::move(find_inlined)),
      sites_(kCallSites) {}

void CallStacks::take(CallPart& part) {
  NoVisitor visitor;
  follow_part(part, visitor);
}

CallStacks::Link CallStacks::link_of(uint32_t opcode) {
  if (branch_kind(opcode) == BranchKind::kNone) return Link::kNone;
  if (sets_link(opcode)) return Link::kCall;
  if (returns_by_link(opcode)) return Link::kReturn;
  const unsigned primary = control_flow::primary(opcode);
  if (primary == 17) return Link::kSystemCall;
  if (primary != 19) return Link::kBranch;
  const unsigned extended = control_flow::extended(opcode);
  const bool to_register = extended == 16 || extended == 528 || extended == 560;
  return to_register ? Link::kBranch : Link::kInterruptReturn;
}

CallStacks::Level CallStacks::level_of(Modes modes) {
  if ((modes.known & Modes::kPr) == 0) return Level::kUnknown;
  return modes.is(Modes::kPr) ? Level::kUser : Level::kSystem;
}

void CallStacks::begin_trace() {
  lost_ = true;
  area_bytes_ = 0;
  std::ranges::fill(sites_, CallSite{});
}

void CallStacks::skipped() {
  if (!lost_) restarts_++;
  changes_++;
  lost_ = true;
  area_bytes_ = 0;  // forces a lookup for the next instruction
}

// Handles a control transfer to `ea`, other than the step to the next instruction in the same
// function.
void CallStacks::arrive(uint64_t ea, const Instruction& instruction) {
  if (tree_.size() >= merge_at_) [[unlikely]]
    merge_stacks();
  const Step step = step_;
  const Level before = level_;
  changes_++;
  begins_ = false;
  modes_ = instruction.modes;
  level_ = level_of(instruction.modes);
  arrived_opcode_ = instruction.opcode;
  owner_before_ = owner_;
  owner_ = cursor_.code(instruction).value - ea;
  owner_is_proven_ = owner_ == 0 || (!owned::is_unproven(ea + owner_) &&
                                     owned::owner(ea + owner_) != owned::kForeign);
  bool entered = false;
  if (lost_) {
    lost_ = false;
    tasks_.clear();
    parents_.clear();
    begin_task(/*fresh=*/false);
    task_.stack.forget();
    seen_.forget();
  } else if (is_interrupt(step, ea, before)) {
    interrupt(step, before);
    entered = true;
  } else if (ea != step.next || step.link == Link::kInterruptReturn) {
    // The other cases are no moves: an untaken branch, a call of the next instruction (to learn its
    // own address), or a fall-through into the next function.
    entered = move(step, ea);
  }
  const CallTree::Function here = task_.function;
  set_area(ea, entered);
  settle();
  begins_ |= task_.function != here;  // a tail call, or the code of the next function
  // A signal handler has returned: the function that it interrupted continues.
  if (const Node handled = std::exchange(handled_, kRoot); handled != kRoot) {
    tree_.confirm(handled, leaf_);
  }
}

// Returns true if an interrupt, not `step`, led to `ea`.
bool CallStacks::is_interrupt(const Step& step, uint64_t ea, Level before) const {
  if (level_ == Level::kUser) return false;
  if (step.link == Link::kSystemCall) return ea != step.next;
  if (before == Level::kUser && level_ == Level::kSystem) return true;
  if (step.link == Link::kNone) return ea != step.next;
  if (step.is_direct()) {
    return ea != step.target() && !(step.may_fall_through() && ea == step.next);
  }
  return is_interrupt_vector(ea);
}

// Follows `step` to `ea`. Returns true if the step entered a function, as far as is known at its
// first instruction.
bool CallStacks::move(const Step& step, uint64_t ea) {
  const bool wrong = step.is_direct() && ea != step.target() && ea != step.target() + 4;
  switch (step.link) {
    case Link::kCall:
      if (wrong) break;
      call(step, step.next - 4 + owner_before_);
      return true;
    case Link::kBranch:
      if (wrong) break;
      return false;
    case Link::kReturn:
      return_to(ea);
      return false;
    case Link::kInterruptReturn:
      return resume(ea);
    case Link::kNone:
    case Link::kSystemCall:
      break;
  }
  restart();  // no instruction leads to `ea`: the trace has a loss
  return false;
}

// `address` is that of the instruction, with its owner.
void CallStacks::call(const Step& step, uint64_t address) {
  begins_ = true;
  if (task_.frames.size() == kMostFrames) {
    cut_++;
    restart();
    inlined_here_ = InlinedChains::kNone;
    settle();
  }
  const CallSite site{.back = site_at(step.next, owner_before_), .function = task_.function};
  sites_[(step.next >> 2) % kCallSites] = site;
  Frame& frame = task_.frames.emplace_back();
  frame.function = task_.function;
  frame.own = leaf_;
  frame.below = tree_.at_site(leaf_, address);
  frame.step = step;
  frame.stack = task_.stack;
  frame.inlined = inlined_here_;
  link_frames(task_.frames.size() - 1);
}

void CallStacks::interrupt(const Step& step, Level before) {
  const bool from_user = before == Level::kUser;
  const bool is_call = step.link == Link::kSystemCall;
  if (from_user && is_call) remember_parent(step);
  // An interrupt can follow any instruction, so the tree would have too many sites.
  call(step, is_call ? step.next - 4 + owner_before_ : CallTree::kNoSite);
  Frame& frame = task_.frames.back();
  frame.interrupted = true;
  frame.from_user = from_user;
  frame.context = context_;
  link_frames(task_.frames.size() - 1);
  if (is_call && step.next - numbered_at_ <= kNearNumber) {
    frame.system_call = number_;
  }
  if (!from_user) return;
  at_entry_ = true;
  task_.stack.forget();
  overwritten_ = jumped_ = false;
  seen_.forget();
}

// ------------------------------------------------------------------------------- returns

// Finds the frame that a return to `ea` continues. A return does not leave an interrupt.
size_t CallStacks::frame_of_return(uint64_t ea) const {
  const std::vector<Frame>& frames = task_.frames;
  const size_t last = frames.size() - std::min(frames.size(), kMostUnwound);
  for (size_t i = frames.size(); i-- > last;) {
    const Frame& frame = frames[i];
    if (frame.interrupted) break;
    if (frame.step.next == ea && !frame.stack.contradicts(task_.stack)) return i;
  }
  return kNoFrame;
}

void CallStacks::return_to(uint64_t ea) {
  const size_t frame = frame_of_return(ea);
  if (frame != kNoFrame) {
    if (level_ == Level::kUser && overwritten_ && task_.frames[frame].stack.known()) {
      return begin_return(ea, task_.frames[frame].function);
    }
    jumped_ = false;
    const Frame caller = task_.frames[frame];
    if (return_of_clone(frame)) return;
    drop_to(frame);
    task_.function = caller.function;
    if (caller.stack.known()) task_.stack = caller.stack;
    return;
  }
  if (level_ != Level::kUser && jumped_ && task_.stack.known() && !on_own_stack()) {
    // All tasks go to sleep in the same function. Another address is the first code of a new task.
    const bool returns = !task_.frames.empty() && task_.frames.back().step.next == ea;
    const StackPointer stack = task_.stack;
    park(before_jump_);
    begin_task(/*fresh=*/!returns);
    task_.stack = stack;
    return;
  }
  if (task_.frames.empty()) return reveal_caller(ea, ea - 4);
  if (level_ != Level::kSystem && unwind_to(ea)) return;
  restart();
}

// The interrupted frame of a signal handler is certain when control leaves the handler for an outer
// frame, unless its last instruction was a branch: its target is then unknown.
void CallStacks::confirm_interrupted(const Frame& frame) {
  const bool stayed = frame.step.link == Link::kNone || frame.step.link == Link::kSystemCall;
  if (frame.upcall && stayed) tree_.confirm(frame.below, frame.own);
}

void CallStacks::drop_to(size_t frames) {
  for (size_t i = frames; i < task_.frames.size(); i++) confirm_interrupted(task_.frames[i]);
  if (task_.choice.kind != Choice::Kind::kNone && frames < task_.choice.depth) {
    // The frames of the choice have ended.
    give_up_choice();
    task_.frames.clear();
    return;
  }
  task_.frames.resize(frames);
}

// Updates the frames from `from` on, which have moved or are new.
void CallStacks::link_frames(size_t from) {
  std::vector<Frame>& frames = task_.frames;
  for (size_t i = from; i < frames.size(); i++) {
    Frame& frame = frames[i];
    const auto own = static_cast<uint32_t>(i);
    frame.last_interrupted = i == 0 ? Frame::kNone : frames[i - 1].last_interrupted;
    frame.last_from_user = i == 0 ? Frame::kNone : frames[i - 1].last_from_user;
    if (frame.interrupted) frame.last_interrupted = own;
    if (frame.from_user) frame.last_from_user = own;
  }
}

// ------------------------------------------------------------------------------- functions

// The symbol of an address in the running program.
SymbolTable::Span CallStacks::symbol_at(uint64_t ea) const {
  return symbols_.code_span_of({ea + owner_});
}

// The name as in symbol_text(), without the offset. Valid until the next call.
const std::string& CallStacks::name_at(const SymbolTable::Span& span, uint64_t ea) const {
  if (!owned::is_unproven(ea + owner_)) [[likely]]
    return span.symbol->name;
  unproven_name_ = span.symbol->name;
  unproven_name_ += '?';
  return unproven_name_;
}

// The function that contains `ea`, if the function has a name or the trace showed a call that
// returns to `ea`.
CallTree::Function CallStacks::function_at(uint64_t ea) const {
  if (const SymbolTable::Span span = symbol_at(ea); span.symbol != nullptr) {
    const auto number = tree_.find(name_at(span, ea));
    if (number != CallTree::kUnnamed) return number;
  }
  const CallSite& site = sites_[(ea >> 2) % kCallSites];
  return site.back == site_at(ea, owner_) ? site.function : CallTree::kUnnamed;
}

// Like function_at(), for a caller that may not have run yet.
CallTree::Function CallStacks::caller_at(uint64_t ea) {
  const SymbolTable::Span span = symbol_at(ea);
  return span.symbol == nullptr ? function_at(ea)
                                : tree_.function_of(name_at(span, ea), /*is_symbol=*/true);
}

// Sets the function that contains `ea`: by its name, or by the called address if the function has
// no name.
void CallStacks::set_area(uint64_t ea, bool entered) {
  const auto use = [this](const Area& area) {
    area_first_ = area.first;
    area_bytes_ = area.bytes;
    task_.function = area_function_ = area.function;
    inlined_here_ = area.inlined;
    area_is_exact_ = true;
  };
  const Place place{ea + owner_};
  if (const Area* known = areas_.find(place)) return use(*known);
  if (const SymbolTable::Span span = symbol_at(ea); span.symbol != nullptr) {
    Area area{.first = span.begin - owner_,
              .bytes = span.end - span.begin,
              .function = tree_.function_of(name_at(span, ea), /*is_symbol=*/true)};
    if (inlined_.wanted()) {
      const InlinedChains::Found found = inlined_.find({place.address}, tree_);
      const uint64_t begin = std::max(found.begin, span.begin);
      area.first = begin - owner_;
      area.bytes = std::min(found.end, span.end) - begin;
      area.inlined = found.number;
    }
    areas_.put(place, area);
    return use(area);
  }
  area_first_ = 0;
  area_bytes_ = ~uint64_t{0};
  inlined_here_ = InlinedChains::kNone;
  if (!symbols_.empty()) {
    // The next function with a name may be close.
    area_first_ = ea & ~(kCodeLineBytes - 1);
    area_bytes_ = kCodeLineBytes;
  }
  if (entered || tree_.is_symbol(task_.function)) {
    task_.function = tree_.function_of(fmt::format("{:x}", ea), /*is_symbol=*/false);
  }
  area_function_ = task_.function;
  area_is_exact_ = symbols_.empty();
}

// Sets the node of the current stack.
void CallStacks::settle() {
  const Node parent = parent_at(task_.frames.size());
  if (parent == settled_parent_ && task_.function == settled_function_ &&
      inlined_here_ == settled_inlined_) {
    return;
  }
  leaf_ = own_ = tree_.child(parent, task_.function);
  for (const CallTree::Function function : inlined_.functions(inlined_here_)) {
    leaf_ = tree_.child(leaf_, function);
  }
  // The tree counts each use of a mark.
  settled_parent_ = CallTree::is_mark(tree_.function(leaf_)) ? kUnsettled : parent;
  settled_function_ = task_.function;
  settled_inlined_ = inlined_here_;
}

}  // namespace htmtrace
