#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_replay.py HTMTRACE TRACE TEXT [SEED...]: debug TRACE with gdb and htmtrace replay, forward and backward, and
compare each answer with TEXT, the output of `htmtrace decode` for this trace. Each SEED chooses other commands.

The model of this test knows the rules of gdb, and takes everything else from TEXT: it shares no code with
htmtrace. Prints TAP. A failure prints the command, the answer and the expected answer.
"""
import array
import bisect
import collections
import functools
import random
import re
import subprocess
import sys

LEAST_COMMANDS = 30
# Power ISA 3.1: bytes and direction of loads and stores, by primary opcode. 58 and 62 depend on two more bits.
SIZES = {32: (4, "r"), 34: (1, "r"), 40: (2, "r"), 36: (4, "w"), 38: (1, "w"), 44: (2, "w")}
SIZES_58 = {0: (8, "r"), 1: (8, "r"), 2: (4, "r")}
SIZES_62 = {0: (8, "w"), 1: (8, "w")}
SIZES_31 = {20: (4, "r")}  # lwarx
SIZES_PREFIXED = {58: (32, "r"), 62: (32, "w")}  # plxvp, pstxvp: an 8-byte load or store prefix
RESERVE = (20, 52, 84, 116, 276)  # gdb steps over a whole lwarx sequence
MOST_BYTES = 128  # no instruction accesses more


class Instruction:
    def __init__(self, line):
        fields = [field.split("=", 1) for field in line.split()]
        first = dict(reversed(fields))
        self.ea = int(first["ea"], 16)
        self.words = [int(first["op"][at:at + 8], 16) for at in range(0, len(first["op"]), 8)]
        self.data = [int(value, 16) for name, value in fields if name == "dea"]

    def reserves(self):
        word = self.words[-1]
        return word >> 26 == 31 and word >> 1 & 0x3ff in RESERVE

    def access(self):
        """(bytes, direction), or None if this test does not know the instruction."""
        word = self.words[-1]
        if len(self.words) == 2:
            return SIZES_PREFIXED.get(word >> 26) if self.words[0] >> 24 & 3 == 0 else None
        if word >> 26 == 31:
            return SIZES_31.get(word >> 1 & 0x3ff)
        if word >> 26 == 58:
            return SIZES_58.get(word & 3)
        if word >> 26 == 62:
            return SIZES_62.get(word & 3)
        return SIZES.get(word >> 26)


class Trace:
    """The lines "ea=... op=..." of a text. Parses a line when it is needed, because a text has millions of lines."""

    def __init__(self, path):
        with open(path, encoding="ascii") as lines:
            self.lines = [line for line in lines if line.startswith("ea=")]
        self.eas = array.array("Q", (int(line[3:19], 16) for line in self.lines))

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, number):
        return Instruction(self.lines[number])

    @functools.cached_property
    def accesses(self):
        """(address, number of the instruction, Instruction.access()) of each access, by address / MOST_BYTES."""
        groups = collections.defaultdict(list)
        for number, line in enumerate(self.lines):
            if " dea=" in line:
                one = Instruction(line)
                for address in one.data:
                    groups[address // MOST_BYTES].append((address, number, one.access()))
        return groups

    def near(self, address):
        """The accesses that may touch the address."""
        group = address // MOST_BYTES
        return [each for number in (group - 1, group, group + 1) for each in self.accesses.get(number, ())
                if address - MOST_BYTES < each[0] < address + MOST_BYTES]

    @functools.cached_property
    def often(self):
        """The addresses that are executed at least four times and have no lwarx, because gdb steps off a breakpoint."""
        counts = collections.Counter(self.eas)
        # The words of these instructions begin with the opcode 31.
        reserved = {ea for ea, line in zip(self.eas, self.lines)
                    if line[23:25] in ("7c", "7d", "7e", "7f") and Instruction(line).reserves()}
        return sorted(ea for ea, count in counts.items() if count >= 4 and ea not in reserved)


class Model:
    def __init__(self, trace):
        self.trace = trace
        self.at = 0
        self.clear()

    def clear(self):
        self.breaks = []  # numbers of instructions
        self.hits = []  # of the watchpoint

    def set_break(self, address):
        self.breaks = [number for number, ea in enumerate(self.trace.eas) if ea == address]

    def set_watch(self, address, directions):
        self.hits = sorted({number for begin, number, access in self.trace.near(address)
                            if access and begin <= address < begin + access[0] and access[1] in directions})

    def step(self, count):
        self.at = min(self.at + count, len(self.trace) - 1)

    def step_back(self, count):
        self.at = max(self.at - count, 0)

    def run(self):
        """Stops at a breakpoint, and after an access."""
        after = self.breaks[bisect.bisect_right(self.breaks, self.at):][:1]
        after += [hit + 1 for hit in self.hits[bisect.bisect_left(self.hits, self.at):][:1]]
        self.at = min(after + [len(self.trace) - 1])

    def run_back(self):
        """Stops at a breakpoint, and at an access."""
        before = [numbers[end - 1] for numbers in (self.breaks, self.hits)
                  if (end := bisect.bisect_left(numbers, self.at))]
        self.at = max(before + [0])


class Script:
    """Commands with the positions that the model expects after each."""

    def __init__(self, model):
        self.model = model
        self.lines = []
        self.expected = []

    def do(self, command, change=None, *arguments):
        if change:
            change(*arguments)
        self.lines.append(command)
        number = len(self.expected)
        self.lines.append(f'printf "[{number}] pc=%lx\\n", $pc')
        self.lines.append("monitor position")
        self.expected.append((command, self.model.at))


def watchable(trace, rng):
    """An address that several known accesses read or write, and that no unknown access may touch."""
    data = sorted({dea for group in trace.accesses.values() for dea, _, access in group if access})
    rng.shuffle(data)
    for address in data[:100]:
        near = [trace[number] for _, number, _ in trace.near(address)]
        # The second address of an access may be the rest of the first.
        apart = all(len(one.data) == 1 or abs(one.data[0] - one.data[1]) > MOST_BYTES for one in near)
        if len(near) >= 3 and apart and all(one.access() for one in near):
            return address
    return None


def safe_steps(trace, begin, count):
    """The number of steps from here that meet no lwarx, which gdb steps over as a sequence."""
    steps = 0
    while steps < count and begin + steps + 1 < len(trace) and not trace[begin + steps].reserves():
        steps += 1
    return steps


def make_script(trace, rng):
    model = Model(trace)
    script = Script(model)
    script.do("info threads")
    for count in (1, 1, 1, 2, 5, 20, 100):
        steps = safe_steps(trace, model.at, count)
        if steps:
            script.do(f"stepi {steps}", model.step, steps)
    for count in (1, 1, 3, 40, 7):
        count = min(count, model.at)
        if count:
            script.do(f"reverse-stepi {count}", model.step_back, count)
    for ea in rng.sample(trace.often, min(3, len(trace.often))):
        model.set_break(ea)
        script.do(f"break *{ea:#x}")
        for _ in range(3):
            if not trace[model.at].reserves():
                script.do("continue", model.run)
        script.do("reverse-continue", model.run_back)
        model.clear()
        script.do("delete")
    address = watchable(trace, rng)
    if address is not None:
        for kind, directions in (("all", "rw"), ("write", "w"), ("read", "r")):
            script.do(f"monitor awatch {kind}")
            model.set_watch(address, directions)
            script.do(f"awatch *(char*){address:#x}")
            for _ in range(2):
                before = model.at
                probe = Model(trace)
                probe.at, probe.hits = before, model.hits
                probe.run()
                # gdb steps over the access with one stepi.
                if not any(trace[i].reserves() for i in (before, max(probe.at - 1, 0))):
                    script.do("continue", model.run)
            script.do("reverse-continue", model.run_back)
            script.do("reverse-continue", model.run_back)
            model.clear()
            script.do("delete")
    def go(number):
        model.at = number

    # Positions all over the trace, near each other and far apart.
    for _ in range(6):
        number = rng.randrange(len(trace))
        script.do(f"monitor go {number}\nmaintenance flush register-cache", go, number)
        script.do("reverse-stepi", model.step_back, 1)
        steps = safe_steps(trace, model.at, 3)
        if steps:
            script.do(f"stepi {steps}", model.step, steps)
    if not trace[model.at].reserves():
        script.do("continue", model.run)
    script.do("reverse-stepi 3", model.step_back, 3)
    script.do("reverse-continue", model.run_back)
    return script


def check(htmtrace, path, trace, seed):
    """Returns whether gdb's answers are right."""
    rng = random.Random(seed)
    script = make_script(trace, rng)
    setup = ["set pagination off", "set confirm off", "set endian little",
             f"target remote | {htmtrace} replay --gdb - {path}"]
    command = ["gdb-multiarch", "-nx", "-batch"]
    for line in "\n".join(setup + script.lines + ["detach"]).splitlines():
        command += ["-ex", line]
    answers = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             check=False, timeout=240).stdout.decode(errors="replace")
    found = {int(number): (int(pc, 16), int(at)) for number, pc, at in
             re.findall(r"^\[(\d+)\] pc=([0-9a-f]+)\ninstruction (\d+)", answers, re.MULTILINE)}
    failed = 0
    for number, (what, at) in enumerate(script.expected):
        expected = (trace.eas[at], at)
        what = what.split("\n", maxsplit=1)[0]
        if found.get(number) == expected:
            print(f"ok - {number}: {what}")
            continue
        failed += 1
        print(f"not ok - {number}: {what}: {found.get(number)}, expected {expected}")
    enough = len(script.expected) >= LEAST_COMMANDS
    print(f"{'ok' if enough else 'not ok'} - {len(script.expected)} commands, at least {LEAST_COMMANDS}")
    if failed or not enough:
        print("\n".join("# " + line for line in answers.splitlines()[-60:]))
    return enough and not failed


def main():
    htmtrace, path, text, *seeds = sys.argv[1:]
    trace = Trace(text)
    results = [check(htmtrace, path, trace, int(seed)) for seed in seeds or [1]]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
