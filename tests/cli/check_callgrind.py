#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_callgrind.py FILE [--truth TRUTH] [--stacks STACKS] [--tree TREE] [--total N] [--deep]: check a callgrind file.

callgrind_annotate must print the same instructions of each function, with and without the functions that it called,
as TRUTH of callgrind_programs.py and as STACKS of `htmtrace report --stacks`. TREE of `htmtrace report --calls --format
json` must have the same calls. --deep accepts "[deeper calls]", which
stands for functions that TRUTH has. A reader of its own checks the sums of the file, and the calls of TRUTH.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys

OUTERMOST = "[trace]"
UNKNOWN = "[unknown callers]"
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)


def annotated(file, inclusive):
    """The instructions of each function, added over the files of its source, and the total."""
    # callgrind_annotate removes its folder only from some names, so it must not run in the folder of the sources.
    run = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no",
                          f"--inclusive={inclusive}", os.path.abspath(file)],
                         capture_output=True, text=True, check=False, cwd="/")
    check(run.returncode == 0, f"callgrind_annotate failed: {run.stderr}")
    check("malformed" not in run.stderr and "WARNING" not in run.stderr, f"callgrind_annotate warns: {run.stderr}")
    counts, total = collections.Counter(), None
    for line in run.stdout.splitlines():
        match = re.match(r"\s*([\d,]+)\s+(.*)", line)
        if not match:
            continue
        count = int(match[1].replace(",", ""))
        if match[2] == "PROGRAM TOTALS":
            total = count
        elif named := re.match(r".*?:(?:(.*) \[.*?\]|(.*))$", match[2]):
            function = named[1] or named[2]
            if inclusive == "yes":
                # Code of other files is inlined, and belongs to the function in its own file.
                counts[function] = max(counts[function], count)
            else:
                counts[function] += count
    return counts, total


class CallgrindFile:
    """An independent reader of the file."""

    def __init__(self, path):
        self.names = {}
        self.own, self.calls, self.costs = (collections.Counter() for _ in range(3))
        self.jumps, self.lines = {}, collections.Counter()
        self.totals = self.summary = None
        function = callee = calls = jump = None
        source = main_source = None
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            line = line.rstrip("\n")
            if not line or line[0] == "#":
                continue
            key, _, value = line.partition("=")
            if match := re.match(r"(summary|totals): (\d+)$", line):
                setattr(self, match[1], int(match[2]))
            elif re.match(r"[a-z]+: ", line):
                continue
            elif key == "fn":
                function = self.name("fn", value)
            elif key == "cfn":
                callee = self.name("fn", value)
            elif key in ("fl", "fi", "fe", "cfi", "jfi"):
                name = self.name("fl", value)
                if key == "fl":
                    main_source = name
                check(key != "fe" or name == main_source, f"line {number}: fe is not the file of the function")
                if key in ("fl", "fi", "fe"):
                    source = name
            elif key in ("ob", "cob", "jfn"):
                self.name("fn" if key == "jfn" else "ob", value)
            elif match := re.match(r"calls=(\d+) 0x[0-9a-f]+ \d+$", line):
                calls = int(match[1])
                check(calls > 0, f"line {number}: no calls")
            elif match := re.match(r"jump=(\d+) 0x([0-9a-f]+) \d+$", line):
                jump = (int(match[1]), None, int(match[2], 16))
            elif match := re.match(r"jcnd=(\d+)/(\d+) 0x([0-9a-f]+) \d+$", line):
                jump = (int(match[1]), int(match[2]), int(match[3], 16))
            elif match := re.match(r"0x([0-9a-f]+) (\d+)( \d+)?$", line):
                address, cost = int(match[1], 16), int(match[3] or 0)
                if jump:
                    check(match[3] is None, f"line {number}: a jump has a cost")
                    self.jumps[address, jump[2]] = jump[:2]
                    jump = None
                elif calls:
                    self.calls[function, callee] += calls
                    self.costs[function, callee] += cost
                    calls = None
                else:
                    self.own[function] += cost
                    self.lines[source, int(match[2])] += cost
            else:
                check(False, f"line {number} is malformed: {line}")

    def name(self, kind, text):
        match = re.match(r"\((\d+)\)(?: (.*))?$", text)
        if match[2] is not None:
            check((kind, match[1]) not in self.names, f"{text} is stated twice")
            self.names[kind, match[1]] = match[2]
        return self.names[kind, match[1]]


def of_stacks(path):
    own, inclusive = collections.Counter(), collections.Counter()
    for line in open(path, encoding="utf-8"):
        stack, count = line.rsplit(" ", 1)
        functions = stack.split(";")
        own[functions[-1]] += int(count)
        for function in set(functions):
            inclusive[function] += int(count)
    return own, inclusive


def compare(what, ours, theirs, ignored):
    for name in sorted(set(ours) | set(theirs)):
        if name not in ignored:
            check(ours[name] == theirs[name], f"{what} of {name}: {ours[name]} instead of {theirs[name]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--truth")
    parser.add_argument("--stacks")
    parser.add_argument("--tree")
    parser.add_argument("--total", type=int)
    parser.add_argument("--deep", action="store_true")
    options = parser.parse_args()

    file = CallgrindFile(options.file)
    own, own_total = annotated(options.file, "no")
    inclusive, total = annotated(options.file, "yes")
    check(file.summary == file.totals == total == own_total == sum(file.own.values()),
          f"totals differ: {file.summary} {file.totals} {total} {own_total} {sum(file.own.values())}")
    if options.total is not None:
        check(total == options.total, f"the total is {total} instead of {options.total}")
    ignored = {OUTERMOST}
    compare("own instructions", own, file.own, ignored)
    check(inclusive[OUTERMOST] == total, f"{inclusive[OUTERMOST]} instructions in {OUTERMOST}")
    if options.truth:
        truth = json.load(open(options.truth, encoding="ascii"))
        if options.deep:
            ignored.add("[deeper calls]")
        compare("own instructions", own, collections.Counter(truth["own"]), ignored)
        compare("inclusive instructions", inclusive, collections.Counter(truth["inclusive"]), ignored)
        check(total == truth["total"], f"the total is {total} instead of {truth['total']}")
        if not options.deep:
            calls = collections.Counter({" > ".join(key): count for key, count in file.calls.items()})
            # "[unknown callers]" has one call, for any number of stacks.
            unknown = f"{OUTERMOST} > {UNKNOWN}"
            true_calls = collections.Counter(truth["calls"])
            true_calls[unknown] = min(true_calls[unknown], 1)
            compare("calls", calls, true_calls, set())
    if options.tree:
        stacks = json.load(open(options.tree, encoding="utf-8"))["stacks"]
        calls = collections.Counter()
        for stack in stacks:
            if not stack["mark"]:
                caller = OUTERMOST if stack["caller"] is None else stacks[stack["caller"]]["function"]
                calls[caller, stack["function"]] += stack["calls"]
        in_file = collections.Counter({key: count for key, count in file.calls.items() if key[1][0] != "["})
        compare("calls in the tree", collections.Counter({" > ".join(key): count for key, count in calls.items()}),
                collections.Counter({" > ".join(key): count for key, count in in_file.items()}), set())
    if options.stacks:
        stack_own, stack_inclusive = of_stacks(options.stacks)
        compare("own instructions", own, stack_own, ignored)
        compare("inclusive instructions", inclusive, stack_inclusive, ignored)
    print("".join(text + "\n" for text in failures[:20]), end="")
    if not failures:
        print(f"{total} instructions, {len(file.own)} functions, {sum(file.calls.values())} calls, "
              f"{len(file.jumps)} jumps")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
