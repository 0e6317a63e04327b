#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_perf.py FILE EVENTS [--period N|branch] [--branches N] [--stacks]: compare the samples of FILE, a perf.data
file of `htmtrace decode --format perf`, with EVENTS, the output of `htmtrace decode --format json --stamps` for the
same trace, which must have no defect.

The reader follows tools/perf/Documentation/perf.data-file-format.txt of Linux, and shares no code with htmtrace.
Prints the number of samples, instructions and branches, and of LOST records. Exits with 1 at the first difference.
"""
import argparse
import collections
import json
import struct
import sys

IP, TID, TIME, ADDR, CALLCHAIN, PERIOD, BRANCHES, SOURCE = (1 << bit for bit in (0, 1, 2, 3, 5, 8, 11, 15))
GAPS = ("record", "pause", "complete")
LOSSES = {"records_dropped", "record_counter_overflow"}
MODES = {"user": 2, "kernel": 1}
Sample = collections.namedtuple("Sample", "mode ip task time addr period chain branches source")


def fail(*words):
    print("check_perf:", *words)
    sys.exit(1)


class PerfFile:
    """The header, the only event, the features and the records of a file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        magic, size, entry, at, length, self.data_at, self.data_bytes, _, _, features = self.words("8sQQQQQQQQQ", 0)
        if magic != b"PERFILE2" or size != 104 or length != entry:
            fail("wrong header")
        kind, attr_bytes, config, self.period, self.sample_type = self.words("IIQQQ", at)
        if (kind, config, attr_bytes + 16) != (0, 1, entry):
            fail("the event is not instructions")
        self.ids = self.words("QQ", at + attr_bytes)
        end = self.data_at + self.data_bytes
        bits = [bit for bit in range(64) if features >> bit & 1]
        self.features = {bit: self.words("QQ", end + 16 * i) for i, bit in enumerate(bits)}
        last = max([end + 16 * len(bits)] + [place + length for place, length in self.features.values()])
        if last != len(self.bytes):
            fail("the file has", len(self.bytes), "bytes, its sections end at", last)

    def words(self, form, at):
        return struct.unpack_from("<" + form, self.bytes, at)

    def records(self):
        at, end = self.data_at, self.data_at + self.data_bytes
        while at < end:
            kind, misc, size = self.words("IHH", at)
            if size < 8 or size % 8 != 0 or at + size > end:
                fail("wrong size of a record at", at)
            yield kind, misc, at + 8, size - 8
            at += size

    def sample(self, misc, at, size):
        end = at + size
        ip, pid, tid, time, addr, period = self.words("QiiQQQ", at)
        at += 40
        chain, branches = (), ()
        if self.sample_type & CALLCHAIN:
            count, = self.words("Q", at)
            chain = self.words(f"{count}Q", at + 8)
            at += 8 + 8 * count
        if self.sample_type & BRANCHES:
            count, = self.words("Q", at)
            flat = self.words(f"{3 * count}Q", at + 8)
            branches = tuple(zip(flat[::3], flat[1::3], (flags >> 20 & 15 for flags in flat[2::3])))
            at += 8 + 24 * count
        source, = self.words("Q", at)
        if at + 8 != end:
            fail("a sample has another size than its members")
        return Sample(misc & 7, ip, (pid, tid), time, addr, period, chain, branches, source)


def sign_extended(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


class Flow:
    """The branches of the trace, from the words of its instructions."""

    def __init__(self, most):
        self.most = most
        self.last = None
        self.branches = []

    def gap(self):
        self.last = None
        self.branches = []

    def arrive(self, ea):
        """Whether control has left the last instruction by a branch or an interrupt."""
        if self.last is None:
            return False
        at, words = self.last
        end = at + 4 * len(words)
        word = words[-1] if len(words) == 1 else 0
        primary, extended = word >> 26, word >> 1 & 0x3ff
        always = word >> 21 & 0x14 == 0x14
        branch = primary in (16, 17, 18) or (primary == 19 and extended in (16, 528, 560, 18, 82, 146, 274, 306))
        conditional = (primary == 16 or (primary == 19 and extended in (16, 528, 560))) and not always
        if ea == end and (not branch or conditional or primary == 17):
            return False
        self.branches = [(at, ea, self.kind(word, primary, extended, conditional, branch, at, ea))] + self.branches
        del self.branches[self.most:]
        return True

    @staticmethod
    def kind(word, primary, extended, conditional, branch, at, ea):
        if not branch:
            return 12
        if primary == 17:
            return 7
        link = word & 1
        if primary in (16, 18):
            bits = 26 if primary == 18 else 16
            target = sign_extended(word & ((1 << bits) - 4), bits) + (0 if word & 2 else at)
            if target % (1 << 64) != ea:
                return 12
            return (9 if conditional else 4) if link else (1 if conditional else 2)
        low = ea & 0xffffffff
        if ea % 32 == 0 and (0x100 <= ea < 0x2000 or (ea >> 32 == 0xc0000000 and 0x4100 <= low < 0x6000) or
                             (ea >> 32 == 0xc0000000 and 0x3000 <= low < 0x4000) or 0x17000 <= ea < 0x1a000):
            return 12
        if extended not in (16, 528, 560):
            return 11
        if link:
            return 5
        return (10 if conditional else 6) if extended == 16 else 3


def expected(path, period, most):
    """The samples that the events require: (ea, addr, period, branches, mode)."""
    flow, run, pending = Flow(most), 0, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            if event["type"] == "stamp":
                if event["kind"] in GAPS or not LOSSES.isdisjoint(event):
                    if period == "branch" and run:
                        yield pending + (run, tuple(flow.branches))
                        run = 0
                    flow.gap()
                continue
            ea = int(event["ea"], 16)
            if flow.arrive(ea) and period == "branch" and run:
                yield (pending[0], ea, pending[2], run, tuple(flow.branches))
                run = 0
            flow.last = ea, [int(event["op"][i:i + 8], 16) for i in range(0, len(event["op"]), 8)]
            data = event.get("data") if period != "branch" else None
            pending = ea, int(data[0]["ea"], 16) if data else 0, event.get("privilege")
            run += 1
            if run == period:
                yield pending + (run, tuple(flow.branches))
                run = 0
    if run:
        yield pending + (run, tuple(flow.branches))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("events")
    parser.add_argument("--period", default="1", type=lambda text: text if text == "branch" else int(text))
    parser.add_argument("--branches", default=0, type=int)
    parser.add_argument("--stacks", action="store_true")
    options = parser.parse_args()
    perf = PerfFile(options.file)
    wanted = IP | TID | TIME | ADDR | PERIOD | SOURCE
    wanted |= (CALLCHAIN if options.stacks else 0) | (BRANCHES if options.branches else 0)
    if perf.sample_type != wanted:
        fail("sample_type is", hex(perf.sample_type))
    samples = instructions = branches = lost = time = 0
    expectations = expected(options.events, 1 if options.period == 1 else options.period, options.branches)
    for kind, misc, at, size in perf.records():
        lost += kind == 2
        if kind != 9:
            continue
        sample = perf.sample(misc, at, size)
        ea, addr, privilege, period, stack = next(expectations, (None,) * 5)
        if (sample.ip, sample.addr, sample.period) != (ea, addr, period):
            fail(f"sample {samples} is", [hex(x) for x in (sample.ip, sample.addr, sample.period)],
                 "and not", ea and [hex(x) for x in (ea, addr, period)])
        if options.branches and sample.branches != stack:
            fail(f"sample {samples} at {ea:x} has the branches", sample.branches, "and not", stack)
        if privilege in MODES and sample.mode != MODES[privilege]:
            fail(f"sample {samples} at {ea:x} has the mode", sample.mode, "in code of the", privilege)
        if sample.time < time:
            fail(f"the time of sample {samples} falls")
        if options.stacks and sample.ip not in sample.chain[:3]:
            fail(f"the call chain of sample {samples} begins with another address")
        samples, instructions, branches, time = (samples + 1, instructions + sample.period,
                                                 branches + len(sample.branches), sample.time)
    if next(expectations, None) is not None:
        fail("samples are missing after", samples)
    print(f"{samples} samples, {instructions} instructions, {branches} branches, {lost} lost")


if __name__ == "__main__":
    main()
