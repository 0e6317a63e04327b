#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_replay.py HTMTRACE TRACE TEXT [SEED]: debug TRACE with gdb and htmtrace replay, forward and backward, and
compare each answer with TEXT, the output of `htmtrace decode` for this trace.

The model of this test knows the rules of gdb, and takes everything else from TEXT: it shares no code with
htmtrace. Prints TAP. A failure prints the command, the answer and the expected answer.
"""
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


class Model:
    def __init__(self, text):
        self.trace = text
        self.at = 0
        self.breaks = set()
        self.watch = None  # (address, directions)

    def hits(self, number):
        if self.watch is None:
            return False
        address, directions = self.watch
        instruction = self.trace[number]
        for dea in instruction.data:
            access = instruction.access()
            if access and dea <= address < dea + access[0] and access[1] in directions:
                return True
        return False

    def step(self, count):
        self.at = min(self.at + count, len(self.trace) - 1)

    def step_back(self, count):
        self.at = max(self.at - count, 0)

    def run(self):
        while self.at + 1 < len(self.trace):
            hit = self.hits(self.at)
            self.at += 1
            if hit or self.trace[self.at].ea in self.breaks:
                return

    def run_back(self):
        while self.at > 0:
            self.at -= 1
            if self.hits(self.at) or self.trace[self.at].ea in self.breaks:
                return


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
    data = sorted({dea for one in trace for dea in one.data if one.access()})
    rng.shuffle(data)
    for address in data[:100]:
        near = [one for one in trace for dea in one.data if address - MOST_BYTES < dea < address + MOST_BYTES]
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
    # An address that the trace executes several times, without lwarx: gdb steps off a breakpoint.
    counts = {}
    for one in trace:
        counts[one.ea] = counts.get(one.ea, 0) + 1
    reserved = {one.ea for one in trace if one.reserves()}
    often = [ea for ea, count in counts.items() if count >= 4 and ea not in reserved]
    for ea in rng.sample(sorted(often), min(3, len(often))):
        model.breaks = {ea}
        script.do(f"break *{ea:#x}")
        for _ in range(3):
            if not trace[model.at].reserves():
                script.do("continue", model.run)
        script.do("reverse-continue", model.run_back)
        model.breaks = set()
        script.do("delete")
    address = watchable(trace, rng)
    if address is not None:
        for kind, directions in (("all", "rw"), ("write", "w"), ("read", "r")):
            script.do(f"monitor awatch {kind}")
            model.watch = (address, directions)
            script.do(f"awatch *(char*){address:#x}")
            for _ in range(2):
                before = model.at
                probe = Model(trace)
                probe.at, probe.watch = before, model.watch
                probe.run()
                # gdb steps over the access with one stepi.
                if not any(trace[i].reserves() for i in (before, max(probe.at - 1, 0))):
                    script.do("continue", model.run)
            script.do("reverse-continue", model.run_back)
            script.do("reverse-continue", model.run_back)
            model.watch = None
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


def main():
    htmtrace, path, text = sys.argv[1:4]
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    with open(text, encoding="ascii") as lines:
        trace = [Instruction(line) for line in lines if line.startswith("ea=")]
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
        expected = (trace[at].ea, at)
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
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
