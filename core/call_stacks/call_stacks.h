// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the call stacks in which instructions ran: follows calls, returns, interrupts and system
// calls.
//
// A trace identifies no task and begins in the middle of a program. Loads and stores show the stack
// pointer, which distinguishes tasks. Each task has its own stack in the kernel, and a return must
// match the stack pointer of its call. A stack is complete if the tracker followed it from its
// begin: from execve, from a clone, or down to the first call. All other stacks have "[unknown
// callers]" in place of missing functions. When a later return reveals such a function, the tracker
// inserts the function into the stack.
//
// The tracker must see every instruction, including instructions that are not selected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/control_flow.h"
#include "core/analysis/symbol_cursor.h"
#include "core/analysis/symbol_table.h"
#include "core/base/recent_table.h"
#include "core/call_stacks/call_part.h"
#include "core/call_stacks/call_tree.h"
#include "core/call_stacks/inlined_chains.h"
#include "core/call_stacks/stack_pointer.h"
#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"

namespace htmtrace {

// A sink for CoreDecoder, possibly after a SelectingSink. It accepts several traces.
class CallStacks {
 public:
  // The calls that precede a selected instruction determine its stack.
  static constexpr Lead kLead = Lead::kAll;

  using Part = CallPart;
  using Node = CallTree::Node;
  static constexpr Node kRoot = CallTree::kRoot;

  // `symbols` must outlive the tracker. A function without a name gets the address of its call
  // target. With `find_inlined`, inlined functions follow the named function that has their code.
  explicit CallStacks(const SymbolTable& symbols,
                      CallTree::Detail detail = CallTree::Detail::kFunctions,
                      FindInlined find_inlined = {});

  void instruction(const Instruction& instruction) {
    if (follow(instruction)) [[likely]] {
      tree_.count(leaf_);
      if (begins_) tree_.enter(own_);
      begins_ = false;
    } else {
      unknown_++;
    }
  }
  // Follows an instruction without counting it.
  void unselected(const Instruction& instruction) {
    follow(instruction);
    begins_ = false;
  }

  void stamp(const Stamp& stamp) {
    if (breaks_flow(stamp)) skipped();
  }
  void unselected(const Stamp& stamp) { this->stamp(stamp); }
  void defect(const Defect&) { skipped(); }

  // Several threads can collect the instructions of a trace in parts.
  CallPart new_part() const { return {}; }
  // Follows the part, and clears it.
  void take(CallPart& part);

  // Instructions that follow each other in memory, in one function.
  struct Stretch {
    uint64_t begin = 0;  // with its owner
    uint32_t instructions = 0;
    uint32_t opcode = 0;      // of the first instruction; the others are no branches
    bool has_prefix = false;  // the first instruction
    bool selected = false;
    CallTree::Function function = CallTree::kUnnamed;  // the last one in the stack
  };
  // Like take(part). Also calls visitor.code(Stretch), and visitor.gap() if the next instruction
  // does not follow the last one.
  // Include core/call_stacks/follow_part.h to use it.
  template <class Visitor>
  void follow_part(CallPart& part, Visitor& visitor);

  // Call begin_trace() before each further trace. No stack or call of an earlier trace remains.
  void begin_trace();
  // The next instruction does not follow the last instruction.
  void skipped();

  // An instruction that called another function, or after which an interrupt or a system call left
  // its function.
  struct Caller {
    uint64_t ea = 0;
    bool is_user = false;  // of the program, not of the kernel
    uint64_t context = 0;  // of the innermost caller with is_user, if the kernel runs
  };
  // Sets the context of the program that runs from now on. The user of this class chooses the
  // number.
  void set_context(uint64_t context) { context_ = context; }
  // Calls visit(Caller) for the known callers of the last instruction, from the innermost to the
  // outermost, until it returns false. Callers that only later returns reveal are missing. An
  // instruction without an address or a word has no known callers.
  template <class Visit>
  void visit_callers(const Visit& visit) const {
    if (lost_) return;
    const bool undecided = task_.choice.kind != Choice::Kind::kNone;
    const size_t end = undecided ? task_.choice.depth : 0;
    bool is_user = level_ == Level::kUser;
    for (size_t i = task_.frames.size(); i-- > end;) {
      const Frame& frame = task_.frames[i];
      is_user |= frame.from_user;
      // A signal handler runs: the interrupted branch may have left its function.
      const bool has_left = frame.upcall && frame.step.link == Link::kBranch;
      if (frame.upcall &&
          (frame.step.link == Link::kReturn || frame.step.link == Link::kInterruptReturn)) {
        return;
      }
      if (!has_left && !visit(Caller{frame.step.next - 4, is_user, frame.context})) return;
    }
  }
  // If two results are equal, the callers at both times are the same.
  uint64_t changes() const { return changes_; }

  // Gives equal stacks one node, which invalidates all nodes. arrive() calls it as the tree grows:
  // each loss and each task begins stacks of its own, and memory must not depend on their number.
  void merge_stacks();
  // Nodes remain valid, and the tree grows up to its limit.
  void keep_nodes() { merge_at_ = kNever; }

  // The stack of the last instruction. Later returns may reveal more of its callers.
  Node here() const { return leaf_; }
  const CallTree& tree() const { return tree_; }

  uint64_t unknown() const { return unknown_; }    // instructions without address or word
  uint64_t restarts() const { return restarts_; }  // stacks that the tracker had to abandon
  uint64_t cut() const { return tree_.cut() + cut_ + inlined_.cut(); }

 private:
  // The effect of an instruction on the stack.
  enum class Link : uint8_t { kNone, kCall, kReturn, kBranch, kSystemCall, kInterruptReturn };
  static Link link_of(uint32_t opcode);

  // The known part of the mode: user or not.
  enum class Level : uint8_t { kUnknown, kUser, kSystem };
  static Level level_of(Modes modes);

  // The parts of the last instruction that decide where control can go.
  struct Step {
    uint64_t next = 0;  // the following address
    uint32_t opcode = 0;
    Link link = Link::kNone;

    uint64_t target() const { return direct_target(opcode, next - 4); }
    bool is_direct() const { return is_direct_branch(opcode); }
    bool may_fall_through() const { return branch_kind(opcode) != BranchKind::kUnconditional; }
  };

  // A function that made a call, or was interrupted.
  struct Frame {
    CallTree::Function function = CallTree::kUnnamed;
    Node own = kRoot;    // the stack of the function
    Node below = kRoot;  // the parent of the called functions
    Step step;           // its last instruction; after a call, execution continues at step.next
    StackPointer stack;  // its value while the function is suspended
    bool interrupted = false;
    bool from_user = false;  // the interrupt or system call left user mode
    uint64_t context = 0;    // set_context(), if from_user
    bool upcall = false;     // `below` is a base: the next function may be a signal handler
    int system_call = -1;    // number of the system call, if known
    InlinedChains::Number inlined = InlinedChains::kNone;  // at its last instruction
    // The innermost frames with these marks, up to and including this frame. link_frames() sets
    // them.
    uint32_t last_interrupted = kNone;
    uint32_t last_from_user = kNone;
    static constexpr uint32_t kNone = ~uint32_t{0};
    StackPointer entry;  // value in the kernel's outermost frame, if from_user
  };

  // Several possible stacks, until the stack pointer decides between them.
  struct Choice {
    enum class Kind : uint8_t { kNone, kReturned, kCloned };
    Kind kind = Kind::kNone;
    Node base = kRoot;
    size_t depth = 0;  // number of frames at the start of the choice
    CallTree::Function function = CallTree::kUnnamed;  // kReturned: the function that continues
    uint64_t back = 0;                                 // kReturned: the address where it continues
    StackPointer stack;                                // kCloned: the parent's stack pointer
  };

  struct Task {
    std::vector<Frame> frames;  // the outermost is first
    CallTree::Function function = CallTree::kUnnamed;
    Node base = kRoot;  // kRoot: no callers are missing
    StackPointer stack;
    Choice choice;
    unsigned revealed = 0;
    bool fresh = false;  // the task was created while the trace ran
    uint64_t parked = 0;
  };

  // A task that calls clone, vfork or fork.
  struct Parent {
    std::vector<Frame> frames;
    CallTree::Function function = CallTree::kUnnamed;
    Node own = kRoot;
    StackPointer stack;
    uint64_t back = 0;
  };

  // The state of the task when its stack pointer was overwritten.
  struct BeforeJump {
    StackPointer stack;
    size_t frames = 0;
    CallTree::Function function = CallTree::kUnnamed;
  };

  static constexpr size_t kMostFrames = 1 << 16;
  // Maximum number of frames in the search for the target of a return.
  static constexpr size_t kMostUnwound = 1 << 12;
  static constexpr size_t kMostTasks = 256;
  static constexpr size_t kMostParents = 16;
  static constexpr size_t kMostParentFrames = 512;
  static constexpr unsigned kMostRevealed = 512;
  static constexpr size_t kNoFrame = ~size_t{0};

  bool follow(const Instruction& instruction) {
    if (!instruction.has_ea || !instruction.has_opcode || owned::is_nobodys(instruction.ea.value))
        [[unlikely]] {
      skipped();
      return false;
    }
    const uint64_t ea = instruction.ea.value;
    if (!stays(ea, instruction.modes)) arrive(ea, instruction);
    pass_by(ea, instruction.opcode, instruction.has_prefix, instruction.data_count != 0,
            instruction.data[0].ea.value);
    return true;
  }
  // Fast path: an instruction after its predecessor, or after a branch within the function. Returns
  // true if arrive(ea) would change only the members that this function sets.
  bool stays(uint64_t ea, Modes modes) {
    if (ea - area_first_ >= area_bytes_) return false;
    if (step_.link == Link::kNone) return ea == step_.next;
    if (step_.link != Link::kBranch || !step_.is_direct() || modes != modes_ || !owner_is_proven_ ||
        !area_is_exact_) {
      return false;
    }
    // The stack pointer may have changed the task or its stack since the last settle().
    if (task_.function != area_function_ || task_.function != settled_function_ ||
        parent_at(task_.frames.size()) != settled_parent_ || handled_ != kRoot) {
      return false;
    }
    // The page proves the owner.
    if (((ea ^ (step_.next - 4)) & ~(SymbolCursor::kPageBytes - 1)) != 0) return false;
    if (ea != step_.target() && !(step_.may_fall_through() && ea == step_.next)) return false;
    begins_ = false;
    owner_before_ = owner_;
    return true;
  }
  // Follows an instruction after stays() or arrive().
  void pass_by(uint64_t ea, uint32_t opcode, bool has_prefix, bool has_data, uint64_t data_ea) {
    step_.next = ea + (has_prefix ? 8 : 4);
    step_.opcode = opcode;
    step_.link = has_prefix ? Link::kNone : link_of(opcode);
    if (may_name_stack_pointer(opcode) && !has_prefix) {
      use_stack_pointer(opcode, has_data, data_ea);
    }
    if (loads_call_number(opcode)) load_number(opcode, ea);
  }
  // The kernel loads its own numbers when it interrupts a program between li and sc.
  void load_number(uint32_t opcode, uint64_t ea) {
    if (level_ == Level::kSystem) return;
    number_ = static_cast<int>(opcode & 0xffff);
    numbered_at_ = ea;
  }
  bool follow(const CallPart::Step& step);
  template <class Visitor>
  void pass(const CallPart::Step& step, Visitor& visitor);
  template <class Visitor>
  void follow_run(const CallPart& part, const CallPart::Step& step, Visitor& visitor);
  template <class Visitor>
  void follow_in_area(const CallPart::Step& step, uint64_t ea, std::span<const uint32_t> words,
                      Visitor& visitor);

  // ---- control flow
  void arrive(uint64_t ea, const Instruction& instruction);
  bool move(const Step& step, uint64_t ea);
  bool is_interrupt(const Step& step, uint64_t ea, Level before) const;
  void interrupt(const Step& step, Level before);
  void call(const Step& step, uint64_t address);
  void return_to(uint64_t ea);
  size_t frame_of_return(uint64_t ea) const;
  bool unwind_to(uint64_t ea);
  size_t count_frames(CallTree::Function function, size_t& last) const;
  void confirm_interrupted(const Frame& frame);
  void drop_to(size_t frames);
  void link_frames(size_t from);
  void reveal_caller(uint64_t ea, uint64_t last);
  void restart();

  // ---- interrupts
  bool resume(uint64_t ea);
  bool resume_user(uint64_t ea);
  bool go_on(size_t frame, uint64_t ea);
  bool may_go_on(size_t frame, uint64_t ea, bool innermost) const;
  void deliver(size_t frame);
  Node known_callers(size_t frame) const;
  size_t innermost_interrupted() const;
  size_t innermost_from_user() const { return innermost_from_user(task_); }
  static size_t innermost_from_user(const Task& task);

  // ---- tasks
  void use_stack_pointer(uint32_t opcode, bool seen, uint64_t address);
  void observe(uint64_t value);
  void land_in_kernel();
  bool on_own_stack() const;
  void begin_task(bool fresh);
  void park(const BeforeJump& then);
  void take_up(size_t parked);
  void find_task_of_exit();
  void remember_parent(const Step& step);
  bool begin_clone(uint64_t ea);
  bool return_of_clone(size_t frame);
  void choose(uint64_t value);
  void give_up_choice();
  void begin_choice(Choice::Kind kind);
  void begin_return(uint64_t ea, CallTree::Function function);

  // ---- functions
  void set_area(uint64_t ea, bool entered);
  SymbolTable::Span symbol_at(uint64_t ea) const;
  const std::string& name_at(const SymbolTable::Span& span, uint64_t ea) const;
  CallTree::Function function_at(uint64_t ea) const;
  CallTree::Function caller_at(uint64_t ea);
  void settle();
  template <class Visit>
  void visit_nodes(const Visit& visit);
  // Adds a caller to a stack that lacks it, with the functions that are inlined at `last`. `site`
  // is the address of the call, with its owner. Returns the new base.
  Node reveal(Node base, CallTree::Function function, uint64_t site, uint64_t last);
  // The parent of the function that runs inside of `frames` frames.
  Node parent_at(size_t frames) const {
    const Choice& choice = task_.choice;
    if (choice.kind != Choice::Kind::kNone && choice.depth == frames) return choice.base;
    return frames == 0 ? task_.base : task_.frames[frames - 1].below;
  }

  static constexpr uint64_t kNearNumber =
      64;  // maximum distance in bytes from li to the system call

  const SymbolTable& symbols_;
  SymbolCursor cursor_;
  uint64_t owner_ = 0;  // the running program, in the owner bits of an address
  bool owner_is_proven_ = false;
  uint64_t owner_before_ = 0;  // of the instruction before the last transfer of control
  mutable std::string unproven_name_;
  CallTree tree_;
  Task task_;  // the running task
  std::vector<Task> tasks_;
  std::vector<Parent> parents_;  // the newest is last
  Node leaf_ = kRoot;
  Node own_ = kRoot;  // the stack of task_.function, without the functions inlined into it
  // The last result of settle(). Most transfers of control stay in their function.
  static constexpr Node kUnsettled = ~Node{0};
  Node settled_parent_ = kUnsettled;
  CallTree::Function settled_function_ = CallTree::kUnnamed;
  InlinedChains::Number settled_inlined_ = InlinedChains::kNone;
  // The size of the tree at which merge_stacks() runs.
  static constexpr size_t kFirstMerge = 1 << 14;
  // Between two checks of the size, a step adds a few nodes and the nodes of inlined functions.
  static constexpr size_t kLastMerge = CallTree::kMostNodes - size_t{4} * CallTree::kMostDepth;
  static constexpr size_t kNever = ~size_t{0};
  size_t merge_at_ = kFirstMerge;
  Node handled_ = kRoot;  // `below` of the frame that continues after a signal handler, or kRoot

  // The addresses that are known to belong to a function.
  uint64_t area_first_ = 0;
  uint64_t area_bytes_ = 0;
  CallTree::Function area_function_ = CallTree::kUnnamed;
  bool area_is_exact_ = false;  // no other function has a name in the area

  // The named functions that control reached recently, with their addresses.
  struct Area {
    uint64_t first = 0;
    uint64_t bytes = 0;
    CallTree::Function function = CallTree::kUnnamed;
    InlinedChains::Number inlined = InlinedChains::kNone;
  };
  struct Place {
    uint64_t address = 0;  // with the owner bits
    uint64_t hash() const { return address; }
    bool operator==(const Place&) const = default;
  };
  RecentTable<Place, Area> areas_;
  InlinedChains inlined_;
  // The functions that are inlined at the last instruction. In its stack, they follow
  // task_.function.
  InlinedChains::Number inlined_here_ = InlinedChains::kNone;

  Step step_;
  Level level_ = Level::kUnknown;
  Modes modes_;  // at the last transfer of control
  uint32_t arrived_opcode_ = 0;
  int number_ = -1;  // the last number loaded into r0
  uint64_t numbered_at_ = 0;

  // State of the stack pointer in task_.stack.
  bool overwritten_ = false;       // unknown after an instruction overwrote it
  bool jumped_ = false;            // on a stack that no known operation led to
  bool blind_ = false;             // unobservable: the trace has no data addresses
  bool at_entry_ = false;          // the next value is the value of the kernel's outermost frame
  bool switched_blindly_ = false;  // the kernel may have switched to another task
  BeforeJump before_jump_;
  StackPointer seen_;  // its last value in the kernel

  // The key of a return address: two programs can have code at one address. `owner` is that of
  // the address, times 2^52. The key does not depend on whether the owner is proven.
  static uint64_t site_at(uint64_t ea, uint64_t owner) {
    return ea + (((owner >> owned::kShift) + 1) / 2 << owned::kShift);
  }
  struct CallSite {
    uint64_t back = 0;  // site_at()
    CallTree::Function function = CallTree::kUnnamed;
  };
  // The functions at recently used return addresses of this trace.
  static constexpr size_t kCallSites = 4096;
  std::vector<CallSite> sites_;

  bool lost_ = true;
  bool begins_ = false;  // the last transfer of control began a function
  uint64_t changes_ = 0;
  uint64_t context_ = 0;
  uint64_t clock_ = 0;
  uint64_t unknown_ = 0;
  uint64_t restarts_ = 0;
  uint64_t cut_ = 0;
};

}  // namespace htmtrace
