// SPDX-License-Identifier: GPL-2.0-or-later
// Interrupts and tasks: the part of CallStacks that uses the stack pointer.
#include <algorithm>
#include <array>
#include <utility>

#include "core/call_stacks/call_stacks.h"

namespace htmtrace {
namespace {

// Linux, arch/powerpc/kernel/syscalls/syscall.tbl.
constexpr std::array kExecs = {11, 362};            // execve execveat
constexpr std::array kClones = {2, 120, 189, 435};  // fork clone vfork clone3
constexpr std::array kHandlerReturns = {119, 172};  // sigreturn rt_sigreturn

// Linux calls a signal handler through this instruction of the vDSO, a call by the count register.
// No function begins with this instruction. arch/powerpc/kernel/vdso/sigtramp64.S.
constexpr uint32_t kCallHandler = 0x4e800421;  // bctrl

template <size_t kCount>
bool is_one_of(int number, const std::array<int, kCount>& numbers) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

}  // namespace

// ------------------------------------------------------------------------------- interrupts

size_t CallStacks::innermost_interrupted() const {
  if (task_.frames.empty()) return kNoFrame;
  const uint32_t last = task_.frames.back().last_interrupted;
  return last == Frame::kNone ? kNoFrame : last;
}

size_t CallStacks::innermost_from_user(const Task& task) {
  if (task.frames.empty()) return kNoFrame;
  const uint32_t last = task.frames.back().last_from_user;
  return last == Frame::kNone ? kNoFrame : last;
}

// Follows a return from an interrupt to `ea`. Returns true if the return entered a function.
bool CallStacks::resume(uint64_t ea) {
  if (level_ == Level::kUser) return resume_user(ea);
  const size_t frame = innermost_interrupted();
  const bool known = level_ == Level::kSystem;
  if (frame != kNoFrame && !(known && task_.frames[frame].from_user)) {
    if (may_go_on(frame, ea, /*innermost=*/true)) return go_on(frame, ea);
    // After an expected access failure, the kernel continues elsewhere in the function.
    if (known && function_at(ea) == task_.frames[frame].function) {
      drop_to(frame);
      task_.stack.forget();
      return false;
    }
  } else if (task_.frames.empty()) {
    reveal_caller(ea, ea);
    return false;
  }
  if (!known) restart();
  return false;  // the first instructions of a handler jump into another mode
}

bool CallStacks::resume_user(uint64_t ea) {
  find_task_of_exit();
  const size_t entry = innermost_from_user();
  const bool fresh = std::exchange(task_.fresh, false);
  overwritten_ = jumped_ = at_entry_ = false;
  if (entry == kNoFrame) {
    if (fresh && begin_clone(ea)) return false;
    task_.stack.forget();
    if (task_.frames.empty()) {
      reveal_caller(ea, ea);
    } else {
      restart();
    }
    return false;
  }
  const int number = task_.frames[entry].system_call;
  size_t ended = entry;  // the interrupt that ends here, if all functions behave well
  if (is_one_of(number, kHandlerReturns)) {
    while (ended != 0 && !task_.frames[ended].upcall) ended--;
    if (!task_.frames[ended].upcall) ended = entry;
  }
  for (size_t i = entry;;) {
    if (may_go_on(i, ea, i == ended)) return go_on(i, ea);
    const uint32_t outer = i == 0 ? Frame::kNone : task_.frames[i - 1].last_from_user;
    if (outer == Frame::kNone) break;
    i = outer;
  }
  if (is_one_of(number, kExecs)) {
    task_ = {};  // another program starts
    begins_ = true;
    return true;
  }
  deliver(ended);  // perhaps the next signal, before the program continues
  return true;
}

// Returns true if the interrupted or calling function can continue at `ea`. Only the innermost
// function may continue anywhere: the interrupt of an outer function has not ended.
bool CallStacks::may_go_on(size_t frame, uint64_t ea, bool innermost) const {
  const Step& step = task_.frames[frame].step;
  // Skips an instruction that the kernel emulated.
  constexpr uint64_t kWord = 4;
  switch (step.link) {
    case Link::kNone:
      return ea == step.next || ea == step.next + kWord;
    case Link::kSystemCall:
      return ea == step.next || ea == step.next - kWord;  // or the call restarts
    case Link::kInterruptReturn:
      return innermost;
    case Link::kCall:
    case Link::kBranch:
    case Link::kReturn:
      break;
  }
  if (step.may_fall_through() && ea == step.next) return true;
  if (step.is_direct()) return ea == step.target() || ea == step.target() + kWord;
  if (!innermost) return false;
  if (step.link != Link::kReturn) return arrived_opcode_ != kCallHandler;
  if (frame == 0) return task_.base != kRoot && arrived_opcode_ != kCallHandler;
  for (size_t i = frame; i-- > 0 && !task_.frames[i].interrupted;) {
    if (task_.frames[i].step.next == ea) return true;
  }
  const CallTree::Function function = function_at(ea);
  for (size_t i = frame; i-- > 0 && function != CallTree::kUnnamed;) {
    if (task_.frames[i].function == function) return true;  // longjmp
  }
  return false;
}

// Continues the frame as if it had not been interrupted.
bool CallStacks::go_on(size_t frame, uint64_t ea) {
  const Frame gone = task_.frames[frame];
  owner_before_ = owner_;  // of the program that continues
  if (gone.upcall) handled_ = gone.below;
  task_.frames[frame].upcall = false;  // arrive() confirms it
  drop_to(frame);
  task_.function = gone.function;
  task_.stack = gone.stack;
  inlined_here_ = gone.inlined;
  overwritten_ = jumped_ = false;
  settle();
  const Link link = gone.step.link;
  if (link == Link::kNone || link == Link::kSystemCall) return false;
  if (link != Link::kInterruptReturn && ea == gone.step.next) return false;
  return move(gone.step, ea);
}

// The kernel continued elsewhere in the program. If that code returns to the interrupted address,
// it is a signal handler.
void CallStacks::deliver(size_t frame) {
  begins_ = true;
  drop_to(frame + 1);
  if (frame >= task_.frames.size()) return;
  Frame& interrupted = task_.frames[frame];
  if (!interrupted.upcall) interrupted.below = tree_.add_base(known_callers(frame));
  interrupted.upcall = true;
  task_.stack.forget();
}

// The known outer part of the stack at which this frame was interrupted. Its last instruction may
// have left the function.
CallStacks::Node CallStacks::known_callers(size_t frame) const {
  const Frame& interrupted = task_.frames[frame];
  switch (interrupted.step.link) {
    case Link::kNone:
    case Link::kSystemCall:
    case Link::kCall:
      return interrupted.own;
    case Link::kBranch:
      return parent_at(frame);
    case Link::kReturn:
    case Link::kInterruptReturn:
      break;
  }
  return kRoot;
}

// ------------------------------------------------------------------------------- stack pointer

// `seen`: the trace has the data address of the instruction.
void CallStacks::use_stack_pointer(uint32_t opcode, bool seen, uint64_t address) {
  const StackPointerUse use = stack_pointer_use(opcode);
  if (use.based) {
    if (seen) {
      observe(address - static_cast<uint64_t>(use.displacement));
    } else {
      blind_ = true;
    }
  }
  StackPointer& stack = task_.stack;
  if (use.updates && seen) {
    stack.set(address);
  } else if (use.updates && !use.based) {
    stack.forget();
  } else if (use.updates || use.adjusts) {
    stack.adjust(use.displacement);
  }
  if (!use.overwrites) return;
  if (level_ == Level::kUser && task_.choice.kind != Choice::Kind::kNone) give_up_choice();
  if (stack.known() || !overwritten_) {
    before_jump_ = {.stack = stack, .frames = task_.frames.size(), .function = task_.function};
  }
  stack.forget();
  overwritten_ = !blind_;
  // To switch tasks, the kernel copies the stack pointer from another register. In calls and at
  // entries, it loads the stack pointer from the stack and its own data.
  constexpr unsigned kRegisterToRegister = 31;
  if (blind_ && level_ != Level::kUser && control_flow::primary(opcode) == kRegisterToRegister) {
    switched_blindly_ = true;
  }
}

// Learns that the stack pointer is `value` before the current instruction.
void CallStacks::observe(uint64_t value) {
  if (level_ != Level::kUser) seen_.set(value);
  StackPointer& stack = task_.stack;
  if (stack.known() && stack.value() == value) return;
  changes_++;
  const bool contradicts = stack.known();
  const uint64_t moved = contradicts ? 0 : stack.moved();
  stack.set(value);
  overwritten_ = false;
  const Choice& choice = task_.choice;
  const size_t interrupted = innermost_interrupted();
  if (choice.kind != Choice::Kind::kNone && !contradicts &&
      (interrupted == kNoFrame || interrupted < choice.depth)) {
    choose(value - moved);
  } else if (level_ != Level::kUser) {
    land_in_kernel();
  } else if (contradicts) {
    // Another task than assumed is running.
    const CallTree::Function function = task_.function;
    restart();
    task_.function = function;
    task_.stack.set(value);
    settle();
  }
}

// Returns true if the kernel runs on the stack on which it entered from the program. Linux stacks
// have at least 16 KiB: THREAD_SIZE in arch/powerpc/include/asm/thread_info.h.
bool CallStacks::on_own_stack() const {
  constexpr uint64_t kStackBytes = 16384;
  const size_t entry = innermost_from_user();
  return entry != kNoFrame && task_.frames[entry].entry.known() &&
         task_.frames[entry].entry.value() - task_.stack.value() < kStackBytes;
}

// The kernel changes to another stack: its own at an entry, another task's, or one for interrupts.
void CallStacks::land_in_kernel() {
  const StackPointer stack = task_.stack;
  if (at_entry_) {
    at_entry_ = false;
    const size_t entry = innermost_from_user();
    if (entry != kNoFrame) task_.frames[entry].entry = stack;
    return;
  }
  if (on_own_stack()) return;
  for (size_t i = 0; i < tasks_.size(); i++) {
    if (!tasks_[i].stack.equals(stack)) continue;
    take_up(i);
    task_.stack = stack;
    return settle();
  }
  jumped_ = true;
}

// ------------------------------------------------------------------------------- tasks

// Saves the current task in the state at which the kernel left its stack.
void CallStacks::park(const BeforeJump& then) {
  if (task_.frames.size() > then.frames) task_.frames.resize(then.frames);
  task_.function = then.function;
  task_.stack = then.stack;
  task_.parked = ++clock_;
  // Two live tasks never share a stack, so an older task with this stack has ended.
  std::erase_if(tasks_, [&](const Task& task) { return task.stack.equals(task_.stack); });
  if (tasks_.size() == kMostTasks) {
    const auto older = [](const Task& a, const Task& b) { return a.parked < b.parked; };
    tasks_.erase(std::min_element(tasks_.begin(), tasks_.end(), older));
  }
  tasks_.push_back(std::move(task_));
}

void CallStacks::take_up(size_t parked) {
  Task next = std::move(tasks_[parked]);
  tasks_.erase(tasks_.begin() + static_cast<ptrdiff_t>(parked));
  park(before_jump_);
  task_ = std::move(next);
  jumped_ = false;
}

// Begins a task that the trace has not shown yet.
void CallStacks::begin_task(bool fresh) {
  const StackPointer stack = task_.stack;
  task_ = {};
  task_.base = tree_.add_base(kRoot);
  task_.stack = stack;
  task_.fresh = fresh;
  begins_ = true;
  jumped_ = overwritten_ = at_entry_ = false;
}

// The kernel returns to the program of the task whose stack it used last.
void CallStacks::find_task_of_exit() {
  const BeforeJump now{.stack = {}, .frames = task_.frames.size(), .function = task_.function};
  if (std::exchange(switched_blindly_, false)) {
    task_ = {};
    return begin_task(/*fresh=*/false);
  }
  if (!seen_.known()) return;
  const auto entered_at = [this](const Task& task) {
    const size_t entry = innermost_from_user(task);
    return entry != kNoFrame && task.frames[entry].entry.equals(seen_);
  };
  const size_t entry = innermost_from_user();
  if (task_.fresh && entry == kNoFrame) {
    std::erase_if(tasks_, entered_at);  // these tasks' stack has a new owner
    return;
  }
  if (entry != kNoFrame && !task_.frames[entry].entry.contradicts(seen_)) return;
  const auto known = std::find_if(tasks_.begin(), tasks_.end(), entered_at);
  if (known != tasks_.end()) {
    before_jump_ = now;
    take_up(static_cast<size_t>(known - tasks_.begin()));
  } else if (entry != kNoFrame) {
    park(now);
    begin_task(/*fresh=*/false);
  }
}

// Saves the stack with which a child begins, if this system call creates a child.
void CallStacks::remember_parent(const Step& step) {
  const auto is_upcall = [](const Frame& frame) { return frame.upcall; };
  if (step.next - numbered_at_ > kNearNumber || !is_one_of(number_, kClones) ||
      task_.base != kRoot || task_.choice.kind != Choice::Kind::kNone || !task_.stack.known() ||
      task_.frames.size() > kMostParentFrames ||
      std::any_of(task_.frames.begin(), task_.frames.end(), is_upcall)) {
    return;
  }
  if (parents_.size() == kMostParents) parents_.erase(parents_.begin());
  parents_.push_back({.frames = task_.frames,
                      .function = task_.function,
                      .own = leaf_,
                      .stack = task_.stack,
                      .back = step.next});
}

// A new task arrives at the return address of a clone, on its parent's stack or on its own.
bool CallStacks::begin_clone(uint64_t ea) {
  const Parent* found = nullptr;
  for (const Parent& parent : parents_) {
    if (parent.back != ea) continue;
    if (found != nullptr && (found->own != parent.own || !found->stack.equals(parent.stack))) {
      return false;
    }
    found = &parent;
  }
  if (found == nullptr) return false;
  task_ = {};
  task_.frames = found->frames;
  task_.function = found->function;
  const StackPointer stack = found->stack;
  begin_choice(Choice::Kind::kCloned);
  task_.choice.stack = stack;
  return true;
}

// A child may return from the function that created it before a load or store shows the child's
// stack pointer. Then the stack pointer of the caller decides.
bool CallStacks::return_of_clone(size_t frame) {
  Choice& choice = task_.choice;
  const Frame& caller = task_.frames[frame];
  if (choice.kind != Choice::Kind::kCloned || frame + 1 != choice.depth ||
      task_.frames.size() != choice.depth || !caller.stack.known() || task_.stack.known()) {
    return false;
  }
  task_.function = caller.function;
  choice.stack = caller.stack;
  choice.depth = frame;
  choice.base =
      reveal(choice.base, task_.function, caller.step.next - 4 + owner_, caller.step.next - 4);
  task_.stack.forget();
  task_.frames.resize(frame);
  return true;
}

// ------------------------------------------------------------------------------- choices

// Until the trace shows the stack pointer, the stack has a separate base.
void CallStacks::begin_choice(Choice::Kind kind) {
  if (task_.choice.kind != Choice::Kind::kNone) give_up_choice();
  task_.stack.forget();
  task_.choice = {};
  task_.choice.kind = kind;
  task_.choice.base = tree_.add_base(kRoot);
  task_.choice.depth = task_.frames.size();
}

// Follows a return to `ea` in this function. The returning call is still unknown.
void CallStacks::begin_return(uint64_t ea, CallTree::Function function) {
  begin_choice(Choice::Kind::kReturned);
  task_.choice.function = task_.function = function;
  task_.choice.back = ea;
}

// Makes the choice: the stack pointer was `value` at the start of the choice. Calls may have
// followed since.
void CallStacks::choose(uint64_t value) {
  const Choice choice = task_.choice;
  std::vector<Frame>& frames = task_.frames;
  const auto at = [&](size_t i) { return frames.begin() + static_cast<ptrdiff_t>(i); };
  StackPointer stack;
  stack.set(value);
  size_t chosen = kNoFrame;
  if (choice.kind == Choice::Kind::kCloned) {
    chosen = stack.equals(choice.stack) ? choice.depth : 0;  // otherwise a thread, without callers
  }
  for (size_t i = choice.depth; choice.kind == Choice::Kind::kReturned && i-- > 0;) {
    const Frame& frame = frames[i];
    if (frame.interrupted && !frame.upcall) break;
    const bool fits = frame.function == choice.function || frame.step.next == choice.back;
    if (!fits || !frame.stack.equals(stack)) continue;
    chosen = i;
    break;
  }
  if (chosen == kNoFrame) {
    restarts_++;
    give_up_choice();
  } else {
    task_.choice = {};
    for (size_t i = chosen; i < choice.depth; i++) {
      confirm_interrupted(frames[i]);
    }
    frames.erase(at(chosen), at(choice.depth));
    link_frames(chosen);
    tree_.confirm(choice.base, parent_at(chosen));
  }
  settle();
}

void CallStacks::give_up_choice() {
  const auto end = task_.frames.begin() +
                   static_cast<ptrdiff_t>(std::min(task_.choice.depth, task_.frames.size()));
  task_.frames.erase(task_.frames.begin(), end);
  link_frames(0);
  task_.base = task_.choice.base;
  task_.revealed = 0;
  task_.choice = {};
}

}  // namespace htmtrace
