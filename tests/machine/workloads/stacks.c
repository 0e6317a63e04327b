// SPDX-License-Identifier: GPL-2.0-or-later
// stacks one|many - a program whose call stacks are known by construction. It has no library, and
// the compiler optimizes each function separately. stacks_compare.cpp relies on these rules:
//
//   - Calls enter a function at its first instruction. A function ends with blr, with a tail call
//     from *_tail, or with longjmp.
//   - Only functions named recursive_* call themselves or each other.
//   - Functions named handler_* are signal handlers.
//
// `one`: one process with one thread does everything that makes stacks hard to follow: chains of
// calls, calls through pointers, recursion, tail calls, longjmp, signals in loops, page faults
// directly after each kind of branch, and both kinds of system calls. `many`: two processes, one of
// them with two threads, share a processor, and call the same functions from different callers.
#include <stddef.h>
#include <stdint.h>

typedef unsigned long word;

enum { kPageBytes = 65536, kVisits = 8 };
enum {
  kExit = 1,
  kFork = 2,
  kKill = 37,
  kGetppid = 64,
  kGetpid = 20,
  kSetitimer = 104,
  kClone = 120,
  kWait4 = 114,
  kSchedYield = 158,
  kSigaction = 173,
  kMadvise = 205,
  kExitGroup = 234
};
enum {
  kDontNeed = 4,
  kSigAlarm = 14,
  kSigUser = 10,
  kSigChild = 17,
  kRestart = 0x10000000,
  kNoDefer = 0x40000000
};

#define FUNCTION __attribute__((noinline, noclone, used, optimize("no-optimize-sibling-calls")))

// A loop of two instructions.
#define SPIN(n) asm volatile("mtctr %0\n0: addi 9,9,1\nbdnz 0b" ::"r"((word)(n)) : "ctr", "r9")

static inline long call_system(long number, long a, long b, long c, long d) {
  register long r0 asm("r0") = number;
  register long r3 asm("r3") = a;
  register long r4 asm("r4") = b;
  register long r5 asm("r5") = c;
  register long r6 asm("r6") = d;
  asm volatile("sc\nbns+ 0f\nneg 3,3\n0:"
               : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6)::"r7", "r8", "r9", "r10", "r11",
                 "r12", "ctr", "cr0", "memory");
  return r3;
}

static volatile word seen;

// ------------------------------------------------------------------------------- calls

FUNCTION void shared_leaf(word n) {
  SPIN(n);
  seen++;
}
FUNCTION void shared(word n) {
  SPIN(2);
  shared_leaf(n);
  SPIN(2);
}

FUNCTION void chain_4(word n) {
  SPIN(n);
  shared(n);
}
FUNCTION void chain_3(word n) {
  chain_4(n);
  SPIN(n);
}
FUNCTION void chain_2(word n) {
  SPIN(n);
  chain_3(n);
  chain_3(n + 1);
}
FUNCTION void chain_1(word n) {
  chain_2(n);
  SPIN(n);
  shared(3);
}
FUNCTION void chains(word rounds) {
  for (word i = 0; i < rounds; i++) chain_1(5 + i % 7);
}

FUNCTION void recursive_odd(word n);
FUNCTION void recursive_even(word n) {
  SPIN(3);
  if (n != 0) recursive_odd(n - 1);
  SPIN(2);
}
FUNCTION void recursive_odd(word n) {
  SPIN(2);
  if (n != 0) recursive_even(n - 1);
  SPIN(4);
}
FUNCTION void recursive_tree(word n) {
  SPIN(4);
  if (n == 0) return;
  recursive_tree(n - 1);
  SPIN(1);
  recursive_tree(n - 1);
}
FUNCTION void recursions(word rounds) {
  for (word i = 0; i < rounds; i++) {
    recursive_even(10 + i % 8);
    recursive_tree(5);
  }
}

FUNCTION void pointed_a(word n) {
  SPIN(n);
}
FUNCTION void pointed_b(word n) {
  SPIN(n);
  shared(n);
}
static void (*volatile pointers[])(word) = {pointed_a, pointed_b, shared};
FUNCTION void by_pointer(word rounds) {
  for (word i = 0; i < rounds; i++) pointers[i % 3](4);
}

// A tail call of a tail call, written in assembly.
void first_tail(word n);
FUNCTION void tail_calls(word rounds) {
  for (word i = 0; i < rounds; i++) first_tail(3 + i % 5);
}

// ------------------------------------------------------------------------------- longjmp

static word jump_buffer[24];
__attribute__((returns_twice)) long set_jump(word* buffer);
__attribute__((noreturn)) void long_jump(word* buffer, long value);

FUNCTION void jump_c(word n) {
  SPIN(n);
  if (n % 2 == 0) long_jump(jump_buffer, 1);
  SPIN(n);
}
FUNCTION void jump_b(word n) {
  jump_c(n);
  SPIN(2);
}
FUNCTION void jump_a(word n) {
  jump_b(n);
  SPIN(3);
}
FUNCTION void jumps_once(word n) {
  if (set_jump(jump_buffer) == 0) {
    jump_a(n);
  } else {
    SPIN(n);
    shared(2);
  }
  SPIN(5);
}
FUNCTION void jumps(word rounds) {
  for (word i = 0; i < rounds; i++) jumps_once(4 + i % 4);
}

// ------------------------------------------------------------------------------- signals

struct action {
  void (*handler)(int);
  word flags;
  void (*restorer)(void);
  word mask;
};
struct interval {
  long every_s, every_us, first_s, first_us;
};
static volatile word alarms;

FUNCTION void handler_leaf(word n) {
  SPIN(n);
}
FUNCTION void handler_alarm(int signal) {
  (void)signal;
  alarms++;
  handler_leaf(7);
  SPIN(2);
}
FUNCTION void handler_jump(int signal) {
  (void)signal;
  SPIN(2);
  long_jump(jump_buffer, 1);
}
static void catch_signal(int signal, void (*handler)(int), word flags) {
  const struct action action = {.handler = handler, .flags = flags};
  call_system(kSigaction, signal, (long)&action, 0, 8);
}
static void set_alarm(long us) {
  const struct interval interval = {.every_us = us, .first_us = us};
  call_system(kSetitimer, 0, (long)&interval, 0, 0);
}
FUNCTION void loop_inner(word n) {
  SPIN(n);
}
FUNCTION void loop_with_alarms(word most) {
  for (word i = 0; i < most && alarms < 6; i++) {
    loop_inner(40);
    SPIN(9);
    if (i % 16 == 0) call_system(kGetppid, 0, 0, 0, 0);
  }
}
FUNCTION void raise_signal(void) {
  const long self = call_system(kGetpid, 0, 0, 0, 0);
  call_system(kKill, self, kSigUser, 0, 0);
  SPIN(3);
}
FUNCTION void leave_handler(word n) {
  if (set_jump(jump_buffer) == 0) {
    raise_signal();
    SPIN(50);
  } else {
    SPIN(n);
  }
}
FUNCTION void signals(word rounds) {
  catch_signal(kSigAlarm, handler_alarm, kRestart);
  set_alarm(2000);
  loop_with_alarms(20000);
  set_alarm(0);
  catch_signal(kSigUser, handler_alarm, 0);
  for (word i = 0; i < rounds; i++) raise_signal();
  catch_signal(kSigUser, handler_jump, kNoDefer);
  for (word i = 0; i < rounds; i++) leave_handler(i + 1);
}

// ------------------------------------------------------------------------------- system calls

FUNCTION void by_sc(void) {
  call_system(kGetppid, 0, 0, 0, 0);
}
FUNCTION void by_scv(void) {
  register long r0 asm("r0") = kGetppid;
  register long r3 asm("r3") = 0;
  asm volatile(".machine push\n.machine power10\nscv 0\n.machine pop"
               : "+r"(r0), "+r"(r3)::"r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "ctr",
                 "lr", "cr0", "memory");
}
FUNCTION void system_calls(word rounds) {
  for (word i = 0; i < rounds; i++) {
    by_sc();
    by_scv();
  }
}

// ------------------------------------------------------------------------------- page faults

// Each function is on a separate page, which is unmapped before each call.
void fault_target(word n);
void fault_blr(word rounds, void (*drop)(void*));
void fault_bdnz(word rounds);
void fault_beq(word rounds);
void fault_next(word rounds);
void fault_b_tail(word n);
void fault_bctr_tail(word n);
void fault_end(word n);

FUNCTION void drop(void* page) {
  call_system(kMadvise, (long)page, kPageBytes, kDontNeed, 0);
}
static void (*volatile fault_pointer)(word) = fault_target;

FUNCTION void fault_bl(word rounds) {
  for (word i = 0; i < rounds; i++) {
    drop((void*)fault_target);
    fault_target(3);
  }
}
FUNCTION void fault_bctrl(word rounds) {
  for (word i = 0; i < rounds; i++) {
    drop((void*)fault_target);
    fault_pointer(3);
  }
}
FUNCTION void fault_jumps(word rounds) {
  for (word i = 0; i < rounds; i++) {
    drop((void*)fault_end);
    fault_b_tail(2);
    drop((void*)fault_end);
    fault_bctr_tail(2);
  }
}
FUNCTION void faults(word rounds) {
  fault_bl(rounds);
  fault_bctrl(rounds);
  fault_jumps(rounds);
  fault_blr(rounds, drop);
  fault_bdnz(rounds);
  fault_beq(rounds);
  fault_next(rounds);
}

// ------------------------------------------------------------------------------- tasks

FUNCTION void yield(void) {
  call_system(kSchedYield, 0, 0, 0, 0);
}

FUNCTION void side_left(word n) {
  SPIN(n);
  shared(n);
  yield();
  SPIN(3);
}
FUNCTION void side_right(word n) {
  shared(n);
  SPIN(n);
  yield();
  shared(2);
}
FUNCTION void deep_right(word n) {
  SPIN(2);
  side_right(n);
}
FUNCTION void play_left(word rounds) {
  for (word i = 0; i < rounds; i++) side_left(3 + i % 11);
}
FUNCTION void play_right(word rounds) {
  for (word i = 0; i < rounds; i++) deep_right(5 + i % 13);
}
FUNCTION long make_process(void) {
  return call_system(kClone, kSigChild, 0, 0, 0);
}
FUNCTION void two_processes(word rounds) {
  const long child = make_process();
  if (child == 0) {
    play_left(rounds);
    call_system(kExitGroup, 0, 0, 0, 0);
  }
  play_right(rounds);
  call_system(kWait4, child, 0, 0, 0);
}

static unsigned char thread_stack[2][16384] __attribute__((aligned(128)));
static unsigned char thread_storage[2][128];
static volatile word threads_done;

// CLONE_VM FS FILES SIGHAND THREAD SYSVSEM SETTLS
enum { kThreadFlags = 0xd0f00 };
void make_thread(void (*body)(word), word stack, word storage, word flags);

FUNCTION void thread_left(word rounds) {
  play_left(rounds);
  __sync_fetch_and_add(&threads_done, 1);
}
FUNCTION void thread_right(word rounds) {
  play_right(rounds);
  __sync_fetch_and_add(&threads_done, 1);
}
FUNCTION void threads(void) {
  make_thread(thread_left, (word)&thread_stack[0][16384 - 512], (word)thread_storage[0],
              kThreadFlags);
  make_thread(thread_right, (word)&thread_stack[1][16384 - 512], (word)thread_storage[1],
              kThreadFlags);
  while (threads_done != 2) {
    shared(3);
    yield();
  }
}

FUNCTION void one(void) {
  chains(500);
  recursions(20);
  by_pointer(600);
  tail_calls(300);
  jumps(100);
  signals(6);
  system_calls(40);
  faults(kVisits);
  chains(500);
}
FUNCTION void many(void) {
  chains(100);
  two_processes(100);
  threads();
  chains(100);
}

FUNCTION void leave(void) {
  call_system(kExitGroup, 0, 0, 0, 0);
}
FUNCTION void start(const word* stack) {
  const char* const mode = (const char*)stack[2];
  if (mode[0] == 'o') one();
  if (mode[0] == 'm') many();
  leave();
}

asm(R"(
    .machine power10
    .text
    .globl _start
    .type _start, @function
_start:
    mr      3, 1
    clrrdi  1, 1, 4
    li      0, 0
    stdu    0, -128(1)
    bl      start@notoc
    trap
    .size _start, . - _start

    .type first_tail, @function
first_tail:
    mtctr   3
0:  addi    9, 9, 1
    bdnz    0b
    b       second_tail
    .size first_tail, . - first_tail
    .type second_tail, @function
second_tail:
    addi    9, 9, 1
    lis     12, last@h
    ori     12, 12, last@l
    mtctr   12
    bctr
    .size second_tail, . - second_tail
    .type last, @function
last:
    addi    9, 9, 1
    addi    9, 9, 2
    blr
    .size last, . - last

    .type set_jump, @function
set_jump:
    std     1, 0(3)
    mflr    4
    std     4, 8(3)
    .irp    r, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    std     \r, (\r - 12) * 8(3)
    .endr
    li      3, 0
    blr
    .size set_jump, . - set_jump
    .type long_jump, @function
long_jump:
    ld      1, 0(3)
    ld      5, 8(3)
    mtlr    5
    .irp    r, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ld      \r, (\r - 12) * 8(3)
    .endr
    mr      3, 4
    blr
    .size long_jump, . - long_jump

    # body, stack, storage, flags. The child begins with an empty stack, here.
    .type make_thread, @function
make_thread:
    std     31, -8(1)
    mr      31, 3
    mr      3, 6
    mr      6, 5
    li      5, 0
    li      7, 0
    li      0, 120
    sc
    cmpdi   3, 0
    beq     0f
    ld      31, -8(1)
    blr
0:  li      0, 0
    stdu    0, -64(1)
    li      3, 40
    mr      12, 31
    mtctr   12
    bctrl
    li      0, 1
    li      3, 0
    sc
    trap
    .size make_thread, . - make_thread

    .macro  drop_page page
    lis     3, \page@h
    ori     3, 3, \page@l
    lis     4, 1
    li      5, 4
    li      0, 205
    sc
    .endm

    .section .faults, "ax"
    .balign 65536
    .type fault_target, @function
fault_target:
    addi    9, 9, 1
    addi    9, 9, 2
    blr
    .size fault_target, . - fault_target

    .balign 65536
    .type fault_end, @function
fault_end:
    addi    9, 9, 1
    blr
    .size fault_end, . - fault_end

    # rounds, drop: returns to a page that is not there.
    .balign 65536
    .type fault_blr, @function
fault_blr:
    mflr    0
    std     0, 16(1)
    std     31, -8(1)
    std     30, -16(1)
    stdu    1, -64(1)
    mr      31, 3
    mr      30, 4
0:  lis     3, fault_blr@h
    ori     3, 3, fault_blr@l
    mr      12, 30
    mtctr   12
    bctrl
    addi    31, 31, -1
    cmpdi   31, 0
    bne     0b
    addi    1, 1, 64
    ld      30, -16(1)
    ld      31, -8(1)
    ld      0, 16(1)
    mtlr    0
    blr
    .size fault_blr, . - fault_blr

    .balign 65536
    .type fault_bdnz, @function
fault_bdnz:
    std     31, -8(1)
    mtctr   3
    b       0f
    .skip   65536 - 20
0:  addi    9, 9, 1
    b       1f
1:  mfctr   31
    drop_page fault_bdnz
    mtctr   31
    bdnz    0b
    ld      31, -8(1)
    blr
    .size fault_bdnz, . - fault_bdnz

    .balign 65536
    .type fault_beq, @function
fault_beq:
    std     31, -8(1)
    mr      31, 3
    b       0f
    .skip   65536 - 20
0:  addi    31, 31, -1
    b       1f
1:  drop_page fault_beq
    cmpdi   31, 0
    cmpd    1, 31, 31
    beq     2f
    beq     1, 0b
2:  ld      31, -8(1)
    blr
    .size fault_beq, . - fault_beq

    # Goes over into a page that is not there.
    .balign 65536
    .type fault_next, @function
fault_next:
    std     31, -8(1)
    mr      31, 3
    b       0f
    .skip   65536 - 44
0:  drop_page 1f
    nop
    nop
    # The page ends here.
1:  addi    31, 31, -1
    cmpdi   31, 0
    bne     0b
    ld      31, -8(1)
    blr
    .size fault_next, . - fault_next

    .text
    .type fault_b_tail, @function
fault_b_tail:
    addi    9, 9, 1
    b       fault_end
    .size fault_b_tail, . - fault_b_tail
    .type fault_bctr_tail, @function
fault_bctr_tail:
    lis     12, fault_end@h
    ori     12, 12, fault_end@l
    mtctr   12
    bctr
    .size fault_bctr_tail, . - fault_bctr_tail
)");
