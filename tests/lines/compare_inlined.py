#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""compare_inlined.py STACKS FIELDS: compares the functions in `report --stacks --inlined` with those of decode.

FIELDS is the output of `decode --fields sym,inlined` for the same instructions. Prints the differences."""
import collections
import re
import sys

MARK = " (inlined)"


def of_stacks(path):
    """The instructions of each function, with the functions inlined into it: (function, inlined, ...)."""
    counts = collections.Counter()
    for line in open(path, encoding="utf-8"):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        frames = stack.split(";")
        begin = len(frames) - 1
        while frames[begin].endswith(MARK):
            begin -= 1
        # A function without a name has the address of its first instruction, or is [unknown].
        function = "-" if re.fullmatch(r"[0-9a-f]+|\[unknown\]", frames[begin]) else frames[begin]
        counts[(function, *(frame.removesuffix(MARK) for frame in frames[begin + 1:]))] += int(count)
    return counts


def of_fields(path):
    counts = collections.Counter()
    for line in open(path, encoding="utf-8"):
        symbol, inlined = line.rstrip("\n").split("\t")
        chain = [] if inlined == "-" else [call.split("@")[0] for call in inlined.split(";")]
        counts[(re.sub(r"\+0x[0-9a-f]+", "", symbol), *reversed(chain))] += 1
    return counts


stacks, fields = of_stacks(sys.argv[1]), of_fields(sys.argv[2])
wrong = [f"{';'.join(part)}: {stacks[part]} instructions in stacks, {fields[part]} in decode"
         for part in sorted(stacks.keys() | fields.keys()) if stacks[part] != fields[part]]
print("\n".join(wrong[:20]))
inlined_parts = [part for part in fields if len(part) > 1]
print(f"{sum(fields.values())} instructions, {len(fields)} parts, {len(inlined_parts)} of inlined functions, "
      f"{sum(fields[part] for part in inlined_parts)} instructions in them")
sys.exit(1 if wrong or not inlined_parts else 0)
