#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""callgrind_programs.py PROGRAM: run a small program, and write what ran and what is true.

The file `list` is the input of make_listed_trace, `words` that of make_program.py with functions of 4096 bytes, and
`kallsyms` has the names of the kernel. The file `truth.json` has the instructions of each function, without (own) and
with the functions that it called (inclusive), and the number of calls of each pair of functions. The simulator keeps
the stack of each task itself: nothing is derived from addresses.
"""
import collections
import json
import sys

# Words of the Power ISA.
NOP, SAVE, GROW, SHRINK, RETURN = 0x60000000, 0xf8010010, 0xf821ffe1, 0x38210020, 0x4e800020
CALL_REGISTER, JUMP_REGISTER, SYSTEM_CALL, RETURN_TO_USER = 0x4e800421, 0x4e800420, 0x44000002, 0x4c000024
LOAD_STACK, COPY_STACK, RESTORE_STACK, POP_STACK = 0xe82d0100, 0x7d014378, 0xe8210078, 0xe8230000
EXEC_NUMBER, HANDLER_NUMBER = 0x3800000b, 0x380000ac
FRAME = 32  # bytes of GROW and SHRINK

MAIN, WORK, LEAF, JUMP, HANDLER, TRAMPOLINE, FIB, EVEN, ODD = range(0x10001000, 0x1000a000, 0x1000)
INTERRUPT, SWITCH = 0xc000000000004900, 0xc000000000110000
KERNEL = {INTERRUPT: "interrupt", SWITCH: "switch"}
UNKNOWN = "[unknown callers]"
OUTERMOST = "[trace]"
TASK_A, TASK_B = 0xc000000010003e10, 0xc000000010103e10


def name_of(address):
    return KERNEL.get(address) or f"u{address:x}?"


class Cpu:
    def __init__(self):
        self.lines, self.words = [], {}
        self.own, self.inclusive, self.calls = (collections.Counter() for _ in range(3))
        self.sp = 0x7ffff000
        self.kernel = False
        self.ea = MAIN
        self.stack = []
        self.begin(UNKNOWN)
        self.begin(name_of(MAIN))
        self.exec()

    def begin(self, function):
        self.calls[self.stack[-1] if self.stack else OUTERMOST, function] += 1
        self.stack.append(function)

    def run(self, *words):
        for word in words:
            data = ""
            if word in (SAVE, GROW, RESTORE_STACK):
                data = f"{self.sp + {SAVE: 16, GROW: -FRAME, RESTORE_STACK: 120}[word]:x}"
            self.lines.append(f"{self.ea:x} {word:08x} {data}")
            if not self.kernel:
                assert self.words.setdefault(self.ea, word) == word
            self.own[self.stack[-1]] += 1
            for function in set(self.stack):
                self.inclusive[function] += 1
            self.sp += {GROW: -FRAME, SHRINK: FRAME}.get(word, 0)
            self.ea += 4

    def at(self, ea, *words):
        self.ea = ea
        self.run(*words)

    def branch(self, target, link=0, conditional=False):
        primary, field = (0x41820000, 0xfffc) if conditional else (0x48000000, 0x3fffffc)
        self.run(primary | (target - self.ea) & field | link)

    # ---- functions
    def call(self, target):
        """Runs bl and the prologue of the function. Returns the address after the call."""
        self.branch(target, link=1)
        back = self.ea
        self.begin(name_of(target))
        self.at(target, SAVE, GROW)
        return back

    def leave(self, back):
        """Runs the epilogue and the return."""
        self.run(SHRINK, RETURN)
        self.stack.pop()
        self.ea = back

    def tail(self, target):
        """The function ends, and another one runs instead of it."""
        self.run(SHRINK)
        self.branch(target)
        self.stack.pop()
        self.begin(name_of(target))
        self.at(target, SAVE, GROW)

    # ---- the kernel
    def mode(self, kernel):
        self.kernel = kernel
        self.lines.append("mode kernel" if kernel else "mode user")

    def enter(self, kernel_stack):
        """An interrupt or a system call."""
        self.user_sp = self.sp
        self.mode(True)
        self.begin(name_of(INTERRUPT))
        self.at(INTERRUPT, NOP, LOAD_STACK)
        self.sp = kernel_stack
        self.run(SAVE)

    def resume(self, ea, stack, sp):
        """The kernel returns to a program with this stack."""
        self.run(SAVE, RESTORE_STACK, RETURN_TO_USER)
        self.mode(False)
        self.stack, self.ea, self.sp = stack, ea, sp

    def exec(self):
        self.at(MAIN + 0x100, EXEC_NUMBER, SYSTEM_CALL)
        self.enter(TASK_A)
        self.resume(MAIN, [], self.user_sp)
        self.begin(name_of(MAIN))
        self.run(SAVE, GROW)

    def switch(self, kernel_stack, stack):
        """The kernel switches to a task that sleeps in the same function, called by `stack` if it is known.

        Returns the stack of the old task, and the kernel's stack pointer.
        """
        self.branch(SWITCH, link=1)
        back, old = self.ea, list(self.stack)
        self.begin(name_of(SWITCH))
        self.at(SWITCH, SAVE, GROW, COPY_STACK)
        left = self.sp
        self.sp = kernel_stack
        if stack is not None:
            self.stack = stack + [name_of(SWITCH)]
        # The trace shows an unknown task only when it returns.
        self.run(SAVE, SHRINK, RETURN)
        self.stack.pop()
        if stack is None:
            self.stack = []
            self.begin(UNKNOWN)
            self.begin(name_of(WORK))
            self.begin(name_of(INTERRUPT))
        self.at(back, NOP)
        return old, left

    def write(self):
        def flat(counts):
            return {" > ".join(key) if isinstance(key, tuple) else key: count for key, count in counts.items()}
        for file, lines in (("list", self.lines), ("words", [f"{a:x} {w:08x}" for a, w in self.words.items()]),
                            ("kallsyms", ["c000000000000000 T _text"] +
                             [f"{a:x} T {n}" for a, n in KERNEL.items()] + ["c000000000111000 T end"])):
            with open(file, "w", encoding="ascii") as output:
                output.write("".join(line + "\n" for line in lines))
        with open("truth.json", "w", encoding="ascii") as output:
            json.dump({"own": self.own, "inclusive": self.inclusive, "calls": flat(self.calls),
                       "total": sum(self.own.values())}, output)


# ---- programs

def recursion(cpu):
    """Two recursive calls in a function, and two functions that call each other."""
    def fib(number):
        cpu.branch(FIB + 0x40, conditional=True)
        if number < 2:
            cpu.at(FIB + 0x40, NOP)
            return
        for left in (1, 2):
            back = cpu.call(FIB)
            fib(number - left)
            cpu.leave(back)

    def even(number):
        function, other = (EVEN, ODD) if number % 2 == 0 else (ODD, EVEN)
        cpu.branch(function + 0x40, conditional=True)
        if number == 0:
            cpu.at(function + 0x40, NOP)
            return
        back = cpu.call(other)
        even(number - 1)
        cpu.leave(back)

    back = cpu.call(FIB)
    fib(9)
    cpu.leave(back)
    back = cpu.call(EVEN)
    even(12)
    cpu.leave(back)
    cpu.run(NOP)


def deep(cpu):
    """A recursion that is deeper than the tree of stacks."""
    backs = [cpu.call(WORK)]
    for _ in range(700):
        cpu.branch(WORK + 0x40, conditional=True)
        backs.append(cpu.call(WORK))
    cpu.branch(WORK + 0x40, conditional=True)
    cpu.at(WORK + 0x40, NOP)
    while backs:
        cpu.leave(backs.pop())
    cpu.run(NOP)


def tails(cpu):
    """Tail calls, direct and by register, and a function that jumps to itself."""
    for _ in range(3):
        cpu.ea = MAIN + 8
        back = cpu.call(WORK)
        cpu.run(NOP)
        cpu.tail(LEAF)
        cpu.run(NOP, SHRINK, JUMP_REGISTER)
        cpu.stack.pop()
        cpu.begin(name_of(HANDLER))
        cpu.at(HANDLER, SAVE, GROW)
        for _ in range(2):
            cpu.at(HANDLER + 8, NOP)
            cpu.branch(HANDLER + 8, conditional=True)
        cpu.at(HANDLER + 8, NOP)
        cpu.branch(HANDLER + 8, conditional=True)
        cpu.leave(back)
        cpu.branch(MAIN + 8)


def longjmp(cpu):
    """longjmp leaves two functions at once."""
    cpu.branch(LEAF, link=1)  # setjmp
    back = cpu.ea
    cpu.begin(name_of(LEAF))
    cpu.at(LEAF, NOP, RETURN)
    cpu.stack.pop()
    cpu.at(back, NOP)
    sp = cpu.sp
    cpu.call(WORK)
    cpu.branch(JUMP, link=1)
    cpu.begin(name_of(JUMP))
    cpu.at(JUMP, POP_STACK, POP_STACK | 1 << 21, RETURN)
    del cpu.stack[-2:]
    cpu.sp = sp
    # The tracker knows the function at once because only one call of it is in the stack.
    cpu.ea = back
    cpu.run(NOP)
    after = cpu.call(WORK)
    cpu.branch(JUMP, link=1)
    cpu.begin(name_of(JUMP))
    cpu.at(JUMP, POP_STACK, POP_STACK | 1 << 21, RETURN)
    del cpu.stack[-2:]
    cpu.sp = sp
    cpu.at(after, NOP, SAVE)


def signals(cpu):
    """A signal handler interrupts a function, which then continues."""
    back = cpu.call(WORK)
    cpu.run(NOP)
    for _ in range(2):
        there, stack, sp = cpu.ea, list(cpu.stack), cpu.sp
        cpu.enter(TASK_A)
        cpu.resume(TRAMPOLINE, list(stack), sp)
        cpu.begin(name_of(TRAMPOLINE))
        cpu.sp -= 0x800
        cpu.run(CALL_REGISTER)
        cpu.begin(name_of(HANDLER))
        cpu.at(HANDLER, SAVE, GROW)
        cpu.leave(TRAMPOLINE + 4)
        cpu.run(HANDLER_NUMBER, SYSTEM_CALL)
        cpu.enter(TASK_A)
        cpu.resume(there, stack, sp)
        cpu.run(NOP)
    cpu.leave(back)
    cpu.run(NOP)


def switches(cpu):
    """Two tasks in the same function; the second was asleep when the trace began."""
    back = cpu.call(WORK)
    cpu.run(NOP)
    here, user_a, sp_a = cpu.ea, list(cpu.stack), cpu.sp
    cpu.enter(TASK_A)
    kernel_a, left = cpu.switch(TASK_B - FRAME, None)
    # Task B returns to a function whose callers are unknown.
    cpu.resume(WORK + 0x40, cpu.stack[:-1], 0x7fffe000)
    cpu.run(NOP)
    cpu.enter(TASK_B)
    cpu.switch(left, kernel_a)
    cpu.resume(here, user_a, sp_a)
    cpu.run(NOP)
    cpu.leave(back)
    cpu.run(NOP)


def loss(cpu):
    """The callers of a function are unknown after a loss until the function returns."""
    back = cpu.call(WORK)
    cpu.run(NOP)
    cpu.lines.append("lost 3")
    cpu.stack = []
    cpu.begin(UNKNOWN)
    cpu.begin(name_of(MAIN))
    cpu.begin(name_of(WORK))
    cpu.run(NOP)
    cpu.leave(back)
    cpu.run(NOP)


if __name__ == "__main__":
    traced = Cpu()
    globals()[sys.argv[1]](traced)
    traced.write()
