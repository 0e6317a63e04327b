#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""same_functions.py SCRIPT DECODED REPORT: compares the function of each instruction in `perf script -F ip,sym,symoff`
with `htmtrace decode --fields ea,sym`, and the instructions of each function with the CSV of `htmtrace report`.

A function can have several names, and perf and htmtrace can choose different ones. So the script compares functions
by the addresses where they begin. perf also treats labels in the assembly of a function as functions, for example
__vmx__sigsetjmp_ent of glibc. At most one of 1000 instructions may follow such a label."""
import collections
import csv
import sys


def fail(*words):
    print("same_functions:", *words)
    sys.exit(1)


script, decoded, report = sys.argv[1:]
counts, aliases = collections.Counter(), set()
lines = labeled = 0
with open(script) as shown, open(decoded) as wanted:
    for shown_line, wanted_line in zip(shown, wanted, strict=True):
        lines += 1
        ip, perf_name = shown_line.split(None, 1)
        ea, name = wanted_line.rstrip("\n").split("\t")
        if int(ip, 16) != int(ea, 16):
            fail(f"line {lines}: perf shows {ip} for {ea}")
        name, _, offset = name.removesuffix("?").partition("+")
        perf_name, _, perf_offset = perf_name.strip().partition("+")
        if name == "-" or perf_name == "[unknown]":
            if name != "-" or perf_name != "[unknown]":
                fail(f"line {lines}: {ea} is in {perf_name} of perf, and in {name} of htmtrace")
            continue
        begin, perf_begin = (int(ea, 16) - int(text or "0", 16) for text in (offset, perf_offset))
        if begin < perf_begin <= int(ea, 16):
            labeled += 1
        elif begin != perf_begin:
            fail(f"line {lines}: {ea} is in {perf_name}, from {perf_begin:x} in perf, and in {name}, from {begin:x}")
        elif name != perf_name:
            aliases.add((name, perf_name))
        counts[begin] += 1
reported = collections.Counter()
with open(report) as file:
    for row in csv.DictReader(file):
        if row["table"] == "code" and row["symbol"]:
            reported[int(row["ea"], 16)] += int(row["count"])
if reported != counts:
    fail("the report differs at", *(f"{begin:x}" for begin in list((reported - counts) + (counts - reported))[:5]))
print(f"{lines} instructions, {sum(counts.values())} in {len(counts)} functions, {len(aliases)} with two names;",
      f"{labeled} instructions behind labels")
sys.exit(lines == 0 or len(counts) < 100 or labeled > lines / 1000)
