// SPDX-License-Identifier: GPL-2.0-or-later
// Call stacks of programs that are known by construction. One program covers each way to lose a
// stack.
#include "core/call_stacks/call_stacks.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "core/call_stacks/stack_pointer.h"
#include "output/print/selecting_sink.h"
#include "tests/damage/time_limit.h"
#include "tests/unit/analysis/folded_stacks.h"
#include "tests/unit/instruction_run.h"

namespace htmtrace {
namespace {

constexpr uint32_t kSystemCall = 0x44000002;
constexpr uint32_t kReturnToUser = 0x4c000024;   // rfid
constexpr uint32_t kCallRegister = 0x4e800421;   // bctrl
constexpr uint32_t kJumpRegister = 0x4e800420;   // bctr
constexpr uint32_t kLoadStack = 0xe82d0100;      // ld r1,256(r13)
constexpr uint32_t kCopyStack = 0x7d014378;      // mr r1,r8
constexpr uint32_t kRestoreStack = 0xe8210078;   // ld r1,120(r1)
constexpr uint32_t kSave = 0xf8010010;           // std r0,16(r1)
constexpr uint32_t kGrow = 0xf821ffe1;           // stdu r1,-32(r1)
constexpr uint32_t kShrink = 0x38210020;         // addi r1,r1,32
constexpr uint32_t kExecNumber = 0x3800000b;     // li r0,11
constexpr uint32_t kCloneNumber = 0x38000078;    // li r0,120
constexpr uint32_t kHandlerNumber = 0x380000ac;  // li r0,172: rt_sigreturn

constexpr uint64_t kMain = 0x10001000, kWork = 0x10002000, kLeaf = 0x10003000, kJump = 0x10004000,
                   kHandler = 0x10005000, kTrampoline = 0x7fff0000;
constexpr uint64_t kDecrementer = 0xc000000000004900, kScheduler = 0xc000000000100000,
                   kSwitch = 0xc000000000110000, kFork = 0xc000000000120000;

SymbolTable symbols_of_all() {
  SymbolTable symbols;
  const auto add = [&](uint64_t address, const char* name) {
    symbols.add({.address = address, .size_bytes = 0x100, .name = name});
  };
  add(kMain, "main");
  add(kWork, "work");
  add(kLeaf, "leaf");
  add(kJump, "longjmp");
  add(kHandler, "handler");
  add(kTrampoline, "trampoline");
  add(kDecrementer, "decrementer");
  add(kScheduler, "schedule");
  add(kSwitch, "switch");
  add(kFork, "fork_return");
  symbols.finish();
  return symbols;
}

// A processor whose registers the test moves.
class Cpu {
 public:
  explicit Cpu(const Selection& selection = {})
      : selection_(selection),
        symbols_(symbols_of_all()),
        stacks_(symbols_),
        sink_(selection_, stacks_) {}

  uint64_t stack = 0x7ffff000;

  // Runs these instructions from `ea` on. Later instructions follow unless a new `ea` is given.
  void at(uint64_t ea, std::initializer_list<uint32_t> opcodes) {
    ea_ = ea;
    run(opcodes);
  }
  void run(std::initializer_list<uint32_t> opcodes) {
    for (const uint32_t opcode : opcodes) {
      Instruction instruction = one(ea_, opcode);
      const bool kernel = ea_ >> 60 == 0xc;
      instruction.modes = {.bits = kernel ? uint16_t{0} : Modes::kPr, .known = Modes::kAll};
      const StackPointerUse use = stack_pointer_use(opcode);
      if (use.based) instruction.add_data({stack + static_cast<uint64_t>(use.displacement)});
      if (use.updates || use.adjusts) stack += static_cast<uint64_t>(use.displacement);
      sink_.instruction(instruction);
      ea_ += 4;
    }
  }
  // Runs bl and the prologue of the called function.
  void call_to(uint64_t target) {
    run({call(ea_, target)});
    at(target, {kSave, kGrow});
  }
  void return_to(uint64_t ea) {
    run({kShrink, kBlr});
    ea_ = ea;
  }
  uint64_t ea() const { return ea_; }

  // An interrupt from the program, up to where the kernel runs on `kernel_stack`.
  void enter(uint64_t kernel_stack) {
    user_stack_ = stack;
    at(kDecrementer, {kNop, kLoadStack});
    stack = kernel_stack;
    run({kSave});
  }
  void leave(uint64_t ea) {
    run({kSave, kRestoreStack, kReturnToUser});
    stack = user_stack_;
    ea_ = ea;
  }
  // The kernel switches to a task that sleeps on `kernel_stack`. Returns the stack of the old task.
  uint64_t switch_to(uint64_t kernel_stack) {
    run({call(ea_, kSwitch)});
    at(kSwitch, {kSave, kGrow, kCopyStack});
    const uint64_t left = stack;
    stack = kernel_stack;
    run({kSave, kShrink, kBlr});
    return left;
  }
  void interrupted(uint64_t kernel_stack, uint64_t ea) {
    enter(kernel_stack);
    leave(ea);
  }
  uint64_t user_stack_ = 0;

  // A signal arrives. Its handler runs and returns, and the program continues at `ea`.
  void handle_signal(uint64_t ea) {
    enter(kTaskA);
    run_handler();
    enter(kTaskA);
    stack = kTaskA;
    user_stack_ = interrupted_stack_;
    leave(ea);
  }
  // Two signals arrive at the same time.
  void handle_two_signals(uint64_t ea) {
    enter(kTaskA);
    run_handler();
    const uint64_t interrupted = interrupted_stack_;
    enter(kTaskA);
    user_stack_ = interrupted;
    run_handler();
    enter(kTaskA);
    user_stack_ = interrupted;
    leave(ea);
  }

  // Runs an execve that ends at the begin of main.
  void exec() {
    at(kMain, {kExecNumber, kSystemCall});
    enter(kTaskA);
    leave(kMain);
    run({kSave, kGrow});
  }

  std::string folded() const { return htmtrace::folded(stacks_.tree()); }
  // The lines of the program alone.
  std::string user() const {
    std::string text = folded(), kept;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at) + 1;
      const std::string line = text.substr(at, end - at);
      const bool kernel = line.find("decrementer") != std::string::npos ||
                          line.find("schedule") != std::string::npos ||
                          line.find("switch") != std::string::npos ||
                          line.find("fork_return") != std::string::npos;
      if (!kernel) kept += line;
      at = end;
    }
    return kept;
  }
  CallStacks& stacks() { return stacks_; }
  void lose() { sink_.defect({}); }

  static constexpr uint64_t kTaskA = 0xc000000010003e10, kTaskB = 0xc000000010103e10;

 private:
  // From the kernel to the handler's system call.
  void run_handler() {
    interrupted_stack_ = user_stack_;
    leave(kTrampoline);
    stack -= 0x800;
    run({kCallRegister});
    at(kHandler, {kSave, kGrow, kShrink, kBlr});
    at(kTrampoline + 4, {kHandlerNumber, kSystemCall});
  }

  uint64_t interrupted_stack_ = 0;
  Selection selection_;
  SymbolTable symbols_;
  CallStacks stacks_;
  SelectingSink<CallStacks> sink_;
  uint64_t ea_ = 0;
};

// Returns the count of a stack in the text.
uint64_t count_of(const std::string& text, const std::string& stack) {
  const std::string lines = "\n" + text;
  const size_t at = lines.find("\n" + stack + " ");
  return at == std::string::npos ? 0 : std::stoull(lines.substr(at + stack.size() + 2));
}

}  // namespace

TEST_CASE("uses of the stack pointer by instructions") {
  CHECK(stack_pointer_use(kGrow).updates);
  CHECK(stack_pointer_use(kGrow).displacement == -32);
  CHECK(stack_pointer_use(kShrink).adjusts);
  CHECK(stack_pointer_use(kLoadStack).overwrites);
  CHECK_FALSE(stack_pointer_use(kLoadStack).based);
  CHECK(stack_pointer_use(kRestoreStack).based);
  CHECK(stack_pointer_use(kRestoreStack).overwrites);
  CHECK(stack_pointer_use(kCopyStack).overwrites);
  CHECK_FALSE(stack_pointer_use(0x7c210b78).overwrites);    // mr r1,r1: a hint
  CHECK_FALSE(stack_pointer_use(0x7c215000).overwrites);    // cmpd r1,r10
  CHECK_FALSE(stack_pointer_use(0x7c2a0840).overwrites);    // cmpld r10,r1
  CHECK_FALSE(stack_pointer_use(0xc8230008).overwrites);    // lfd f1,8(r3)
  CHECK(stack_pointer_use(0xf4210025).displacement == 32);  // stxv vs1,32(r1)
  CHECK(stack_pointer_use(0x7c21496a).updates);             // stdux r1,r1,r9
  CHECK_FALSE(stack_pointer_use(0x38610020).adjusts);       // addi r3,r1,32
}

TEST_CASE("call stacks: calls, returns and interrupts, in an unknown mode") {
  const SymbolTable symbols = symbols_of_all();
  CallStacks stacks(symbols);
  run(stacks, kMain, {kNop, call(kMain + 4, kWork)});
  run(stacks, kWork, {kNop, kNop, call(kWork + 8, kLeaf)});
  run(stacks, kLeaf, {kNop, kBlr});
  run(stacks, kWork + 12, {kSystemCall});
  run(stacks, 0xc00, {kNop, kNop, kReturnToUser});
  run(stacks, kWork + 16, {kNop});
  run(stacks, kDecrementer, {kReturnToUser});
  run(stacks, kWork + 20, {kNop, kBlr});
  run(stacks, kMain + 8, {kNop});
  CHECK(folded(stacks.tree()) ==
        "[unknown callers];main 3\n"
        "[unknown callers];main;work 7\n"
        "[unknown callers];main;work;c00 3\n"
        "[unknown callers];main;work;decrementer 1\n"
        "[unknown callers];main;work;leaf 2\n");
  CHECK(stacks.restarts() == 0);
}

TEST_CASE("call stacks: no names and no known callers") {
  const SymbolTable none;
  CallStacks stacks(none);
  run(stacks, 0x1000, {call(0x1000, 0x2000)});
  run(stacks, 0x2000, {call(0x2000, 0x2004)});  // not a call: it reads the instruction address
  run(stacks, 0x2004, {call(0x2004, 0x3000)});
  run(stacks, 0x3000, {kBlr});
  run(stacks, 0x2008, {kBlr});
  run(stacks, 0x1004, {kNop});
  stacks.defect({});
  run(stacks, 0x5004, {kNop});
  Instruction nameless;
  stacks.instruction(nameless);
  CHECK(folded(stacks.tree()) ==
        "[unknown callers];[unknown] 3\n"
        "[unknown callers];[unknown];2000 3\n"
        "[unknown callers];[unknown];2000;3000 1\n");
  CHECK(stacks.restarts() == 2);
  CHECK(stacks.unknown() == 1);
}

TEST_CASE("call stacks: the stack of a program is complete from the program's begin") {
  Cpu cpu;
  cpu.exec();
  cpu.call_to(kWork);
  cpu.return_to(kMain + 12);
  cpu.run({kNop});
  CHECK(cpu.user() == "[unknown callers];main 2\nmain 4\nmain;work 4\n");
}

TEST_CASE("call stacks: an interrupt between the number of execve and its system call") {
  Cpu cpu;
  cpu.at(kMain, {kExecNumber});
  cpu.enter(Cpu::kTaskA);
  cpu.run({kCloneNumber});
  cpu.leave(kMain + 4);
  cpu.run({kSystemCall});
  cpu.enter(Cpu::kTaskA);
  cpu.leave(kWork);
  cpu.run({kNop});
  CHECK(count_of(cpu.folded(), "work") == 1);
}

TEST_CASE("call stacks: a return reveals a caller from before the trace") {
  Cpu cpu;
  cpu.at(kLeaf, {kNop, kBlr});
  cpu.at(kWork + 8, {kNop, kBlr});
  cpu.at(kMain + 8, {kNop});
  CHECK(cpu.folded() ==
        "[unknown callers];main 1\n"
        "[unknown callers];main;work 2\n"
        "[unknown callers];main;work;leaf 2\n");
}

TEST_CASE("call stacks: an interrupt immediately after a branch") {
  Cpu cpu;
  cpu.exec();
  SUBCASE("taken bdnz") {
    cpu.run({kNop, 0x4200fffc});
    cpu.interrupted(Cpu::kTaskA, kMain + 8);
    cpu.run({kNop});
    CHECK(count_of(cpu.folded(), "main") == 5);
  }
  SUBCASE("bdnz that is not taken") {
    cpu.run({kNop, 0x4200fffc});
    cpu.interrupted(Cpu::kTaskA, kMain + 16);
    cpu.run({kNop});
    CHECK(count_of(cpu.folded(), "main") == 5);
  }
  SUBCASE("bl, even if its target instruction is skipped") {
    for (const uint64_t skipped : {0, 4}) {
      cpu.at(kMain + 8, {call(kMain + 8, kWork)});
      cpu.interrupted(Cpu::kTaskA, kWork + skipped);
      cpu.run({kNop, kBlr});
    }
    cpu.at(kMain + 12, {kNop});
    CHECK(count_of(cpu.folded(), "main") == 5);
    CHECK(count_of(cpu.folded(), "main;work") == 4);
  }
  SUBCASE("bctrl") {
    cpu.run({kCallRegister});
    cpu.interrupted(Cpu::kTaskA, kWork);
    cpu.run({kNop, kBlr});
    cpu.at(kMain + 12, {kNop});
    CHECK(count_of(cpu.folded(), "main;work") == 2);
  }
  SUBCASE("blr") {
    cpu.call_to(kWork);
    cpu.run({kShrink, kBlr});
    cpu.interrupted(Cpu::kTaskA, kMain + 12);
    cpu.run({kNop});
    CHECK(count_of(cpu.folded(), "main;work") == 4);
    CHECK(count_of(cpu.folded(), "main") == 4);
  }
  SUBCASE("b and bctr: tail calls") {
    cpu.call_to(kWork);
    cpu.run({kShrink, jump(cpu.ea() + 4, kLeaf)});
    cpu.interrupted(Cpu::kTaskA, kLeaf);
    cpu.run({kNop, kJumpRegister});
    cpu.interrupted(Cpu::kTaskA, kHandler);
    cpu.run({kNop, kBlr});
    cpu.at(kMain + 12, {kNop});
    CHECK(count_of(cpu.folded(), "main;leaf") == 2);
    CHECK(count_of(cpu.folded(), "main;handler") == 2);
    CHECK(count_of(cpu.folded(), "main") == 4);
  }
  SUBCASE("sc that is restarted") {
    cpu.run({kNop, kSystemCall});
    cpu.interrupted(Cpu::kTaskA, kMain + 12);
    cpu.run({kSystemCall});
    cpu.interrupted(Cpu::kTaskA, kMain + 16);
    cpu.run({kNop});
    CHECK(count_of(cpu.folded(), "main") == 6);
  }
  CHECK(count_of(cpu.folded(), "[unknown callers];main") == 2);  // before execve
  CHECK(cpu.stacks().restarts() == 0);
}

TEST_CASE("call stacks: an interrupt in the kernel immediately after its branches") {
  Cpu cpu;
  cpu.exec();
  cpu.call_to(kWork);
  cpu.run({kNop});
  const uint64_t back = cpu.ea();
  cpu.enter(Cpu::kTaskA);
  cpu.run({jump(cpu.ea(), kScheduler)});
  cpu.at(kDecrementer, {kNop, kReturnToUser});
  cpu.at(kScheduler, {kSave, kReturnToUser});
  cpu.at(kDecrementer, {kNop, kReturnToUser});  // after rfid, before its target
  cpu.at(back, {kShrink, kBlr});
  cpu.at(kMain + 12, {kNop});
  CHECK(count_of(cpu.folded(), "main;work") == 5);
  CHECK(count_of(cpu.folded(), "main") == 4);
  CHECK(cpu.stacks().restarts() == 0);
}

TEST_CASE("call stacks: longjmp unwinds to the function that called setjmp") {
  Cpu cpu;
  cpu.exec();
  cpu.run({call(cpu.ea(), kLeaf)});  // setjmp
  cpu.at(kLeaf, {kNop, kBlr});
  cpu.at(kMain + 12, {kNop});
  cpu.call_to(kWork);
  cpu.run({call(cpu.ea(), kJump)});
  cpu.at(kJump, {0xe8230000, 0xe8230000 | 1U << 21, kBlr});  // ld r1,0(r3)
  cpu.stack = 0x7ffff000 - 32;
  cpu.at(kMain + 12, {kNop, kSave});
  cpu.call_to(kWork);
  CHECK(count_of(cpu.folded(), "main") == 8);
  CHECK(count_of(cpu.folded(), "main;work") == 5);
  CHECK(count_of(cpu.folded(), "main;work;longjmp") == 3);
  CHECK(cpu.stacks().restarts() == 0);
}

TEST_CASE("call stacks: the stack pointer identifies the call to which longjmp returns") {
  Cpu cpu;
  cpu.exec();
  cpu.call_to(kWork);
  const uint64_t first = cpu.stack;
  cpu.run({call(cpu.ea(), kLeaf)});
  cpu.at(kLeaf, {kNop, kBlr});
  cpu.at(kWork + 12, {kNop});
  cpu.call_to(kWork);  // a recursive call
  cpu.run({call(cpu.ea(), kJump)});
  cpu.at(kJump, {0xe8230000 | 1U << 21, kBlr});
  cpu.stack = first;
  cpu.at(kWork + 12, {kNop});
  SUBCASE("before the stack pointer is seen, the call is unknown") {
    CHECK(count_of(cpu.folded(), "[unknown callers];work") == 1);
  }
  SUBCASE("after the stack pointer is seen, the call is known") {
    cpu.run({kSave});
    CHECK(count_of(cpu.folded(), "[unknown callers];work") == 0);
    CHECK(count_of(cpu.folded(), "main;work") == 7);
  }
}

TEST_CASE("call stacks: each task has its own stack") {
  Cpu cpu;
  cpu.exec();
  cpu.call_to(kWork);
  cpu.run({kNop});
  const uint64_t back = cpu.ea();
  // Task A goes to sleep.
  cpu.enter(Cpu::kTaskA);
  const uint64_t user_a = cpu.user_stack_;
  // Task B was asleep before the trace began.
  const uint64_t stack_a = cpu.switch_to(Cpu::kTaskB - 32);
  cpu.at(kDecrementer + 0x10, {kNop});
  cpu.user_stack_ = 0x7fffe000;
  cpu.leave(kWork + 0x40);  // the same function, with an unknown caller
  cpu.run({kNop});
  cpu.enter(Cpu::kTaskB);
  cpu.switch_to(stack_a);
  cpu.at(kDecrementer + 0x10, {kNop});
  cpu.user_stack_ = user_a;
  cpu.leave(back);
  cpu.run({kNop, kShrink, kBlr});
  cpu.at(kMain + 12, {kNop});
  CHECK(count_of(cpu.folded(), "main;work") == 6);
  CHECK(count_of(cpu.folded(), "[unknown callers];work") == 1);
  CHECK(count_of(cpu.folded(), "main") == 4);
}

TEST_CASE("call stacks: a child has its parent's stack, a thread has its own stack") {
  Cpu cpu;
  cpu.exec();
  cpu.call_to(kWork);
  cpu.run({kSave, kCloneNumber, kSystemCall});
  const uint64_t back = cpu.ea();
  cpu.enter(Cpu::kTaskA);
  cpu.switch_to(Cpu::kTaskB - 32);
  cpu.at(kFork, {kSave});
  cpu.leave(back);
  cpu.run({kNop});
  SUBCASE("child") {
    cpu.run({kSave, kShrink, kBlr});
    cpu.at(kMain + 12, {kNop});
    CHECK(count_of(cpu.folded(), "main;work") == 9);
    CHECK(count_of(cpu.folded(), "main") == 4);
  }
  SUBCASE("child that returns before its stack pointer is seen") {
    cpu.run({kBlr});
    cpu.stack += 32;
    cpu.at(kMain + 12, {kNop, kSave});
    CHECK(count_of(cpu.folded(), "main;work") == 7);
    CHECK(count_of(cpu.folded(), "main") == 5);
  }
  SUBCASE("child that calls before its stack pointer is seen") {
    cpu.run({call(cpu.ea(), kLeaf)});
    cpu.at(kLeaf, {kSave, kGrow, kShrink, kBlr});
    CHECK(count_of(cpu.folded(), "main;work;leaf") == 4);
    CHECK(count_of(cpu.folded(), "main;work") == 7);
  }
  SUBCASE("thread") {
    cpu.stack -= 0x10000;
    cpu.run({kSave, call(cpu.ea() + 4, kLeaf)});
    cpu.at(kLeaf, {kNop});
    CHECK(count_of(cpu.folded(), "main;work") == 5);
    CHECK(count_of(cpu.folded(), "work") == 3);
    CHECK(count_of(cpu.folded(), "work;leaf") == 1);
  }
  SUBCASE("unknown until its stack pointer is seen") {
    CHECK(count_of(cpu.folded(), "[unknown callers];work") == 1);
  }
  CHECK(cpu.stacks().restarts() == 0);
}

TEST_CASE("call stacks: signal handlers") {
  Cpu cpu;
  cpu.exec();
  cpu.call_to(kWork);
  cpu.run({kNop});
  const uint64_t back = cpu.ea();
  cpu.enter(Cpu::kTaskA);
  const uint64_t stack = cpu.user_stack_;
  cpu.leave(kTrampoline);
  cpu.stack -= 0x800;
  cpu.run({kCallRegister});
  cpu.at(kHandler, {kSave, kGrow, kShrink, kBlr});
  CHECK(count_of(cpu.folded(), "main;work;[unknown callers];trampoline;handler") == 4);
  cpu.at(kTrampoline + 4, {kNop, kSystemCall});
  cpu.interrupted(Cpu::kTaskA, back);
  cpu.stack = stack;
  cpu.run({kShrink, kBlr});
  cpu.at(kMain + 12, {kNop});
  CHECK(count_of(cpu.folded(), "main;work;trampoline;handler") == 4);
  CHECK(count_of(cpu.folded(), "main;work;trampoline") == 3);
  CHECK(count_of(cpu.folded(), "main;work") == 5);
  CHECK(count_of(cpu.folded(), "main") == 4);
}

TEST_CASE("call stacks: a signal immediately after a branch") {
  bool two = false;
  SUBCASE("one signal") {}
  SUBCASE("two signals at the same time") {
    two = true;
  }
  const uint64_t times = two ? 2 : 1;
  Cpu cpu;
  cpu.exec();
  const auto signal = [&](uint64_t ea) {
    two ? cpu.handle_two_signals(ea) : cpu.handle_signal(ea);
  };
  const auto handlers = [&](const std::string& caller) {
    return count_of(cpu.folded(), caller + ";trampoline;handler");
  };
  SUBCASE("bl") {
    cpu.run({call(cpu.ea(), kWork)});
    signal(kWork);
    cpu.run({kNop, kBlr});
    cpu.at(kMain + 12, {kNop});
    CHECK(handlers("main;work") == 4 * times);
    CHECK(handlers("main") == 0);
    CHECK(count_of(cpu.folded(), "main;work") == 2);
  }
  SUBCASE("bctrl") {
    cpu.run({kCallRegister});
    signal(kWork);
    cpu.run({kNop, kBlr});
    cpu.at(kMain + 12, {kNop});
    CHECK(handlers("main;work") == 4 * times);
    CHECK(count_of(cpu.folded(), "main;work") == 2);
  }
  SUBCASE("blr") {
    cpu.call_to(kWork);
    cpu.run({kShrink, kBlr});
    signal(kMain + 12);
    cpu.run({kNop});
    CHECK(handlers("main") == 4 * times);
    CHECK(handlers("main;work") == 0);
    CHECK(count_of(cpu.folded(), "main;work") == 4);
    CHECK(count_of(cpu.folded(), "main") == 4);
  }
  SUBCASE("b and bctr: tail calls") {
    cpu.call_to(kWork);
    cpu.run({kShrink, jump(cpu.ea() + 4, kLeaf)});
    signal(kLeaf);
    cpu.run({kNop, kJumpRegister});
    signal(kWork);
    cpu.run({kNop, kBlr});
    cpu.at(kMain + 12, {kNop});
    CHECK(handlers("main;leaf") == 4 * times);
    CHECK(handlers("main;work") == 4 * times);
    CHECK(count_of(cpu.folded(), "main") == 4);
  }
  CHECK(cpu.folded().find("[unknown callers];trampoline") == std::string::npos);
  CHECK(cpu.stacks().restarts() == 0);
}

TEST_CASE("call stacks: the caller of a handler that never returns is unknown after a branch") {
  Cpu cpu;
  cpu.exec();
  cpu.call_to(kWork);
  cpu.run({kShrink, kBlr});
  cpu.enter(Cpu::kTaskA);
  cpu.leave(kTrampoline);
  cpu.stack -= 0x800;
  cpu.run({kCallRegister});
  cpu.at(kHandler, {kSave, kGrow, call(kHandler + 8, kJump)});
  cpu.at(kJump, {kNop, kBlr});
  cpu.at(kMain + 16, {kNop});
  CHECK(count_of(cpu.folded(), "[unknown callers];trampoline;handler") == 3);
  CHECK(count_of(cpu.folded(), "main;trampoline;handler") == 0);
  CHECK(count_of(cpu.folded(), "main;work;trampoline;handler") == 0);
}

TEST_CASE("call stacks: a selection does not hide calls") {
  Selection selection;
  selection.privileges = 1U << static_cast<unsigned>(Privilege::kUser);
  Cpu cpu(selection);
  cpu.exec();
  cpu.call_to(kWork);
  cpu.interrupted(Cpu::kTaskA, cpu.ea());
  cpu.run({kShrink, kBlr});
  cpu.at(kMain + 12, {kNop});
  CHECK(cpu.folded() == "[unknown callers];main 2\nmain 4\nmain;work 4\n");
}

TEST_CASE("call stacks: after a loss, callers are unknown until calls return") {
  Cpu cpu;
  cpu.exec();
  cpu.call_to(kWork);
  cpu.lose();
  cpu.run({kNop, kShrink, kBlr});
  cpu.at(kMain + 12, {kNop});
  CHECK(count_of(cpu.folded(), "[unknown callers];main") == 3);
  CHECK(count_of(cpu.folded(), "[unknown callers];main;work") == 3);
}

TEST_CASE("call stacks: deep stacks cost no time for each instruction") {
  const TimeLimit limit;
  const SymbolTable symbols = symbols_of_all();
  CallStacks stacks(symbols);
  for (int i = 0; i < 65000; i++) run(stacks, kWork, {call(kWork, kWork)});
  for (int i = 0; i < 20000; i++) {
    run(stacks, kWork, {kCopyStack});
    Instruction save = one(kWork + 4, kSave);
    save.modes = {.bits = Modes::kPr, .known = Modes::kAll};
    save.add_data({0x7fff0010});
    stacks.instruction(save);
    run(stacks, kWork + 8, {jump(kWork + 8, kWork)});
  }
  CHECK(stacks.restarts() == 0);
}

TEST_CASE("call stacks: addresses without a program are not attributed to a program") {
  SymbolTable symbols;
  symbols.begin_program({.file = "prog",
                         .is_main = true,
                         .begin = 0x10000000,
                         .end = 0x20000000,
                         .loads = {},
                         .texts = {}});
  symbols.add({.address = kMain, .size_bytes = 0x100, .name = "main"});
  symbols.end_program();
  symbols.finish();
  CallStacks stacks(symbols);
  run(stacks, uint64_t{1} << 52 | kMain, {kNop});
  CHECK(folded(stacks.tree()).empty());
  CHECK(stacks.unknown() == 1);
}

}  // namespace htmtrace
