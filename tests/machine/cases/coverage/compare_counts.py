#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""compare_counts.py LEVEL SOURCE GCOV INFO TIMES: the lcov tracefile INFO has TIMES the counts of GCOV, for SOURCE.

GCOV is the output of `gcov -b -t` of a program that ran once. Without optimization (LEVEL O0), all counts are equal. The
other levels may differ at the lines whose comment "-O2:" explains the difference. Labels have a count only in GCOV, and
closing braces only in INFO: the compiler states no line for the code of a label, and gcov has no block for the code
of a brace.
"""
import re
import sys


def gcov_counts(path):
    lines, functions = {}, {}
    for text in open(path):
        function = re.match(r"function (\S+) called (\d+) ", text)
        if function:
            functions[function[1]] = int(function[2])
        line = re.match(r" *([0-9]+|#####|=====)\*?: *([0-9]+):", text)
        if line and int(line[2]) > 0:
            lines[int(line[2])] = int(line[1]) if line[1].isdigit() else 0
    return lines, functions


def info_counts(path, source):
    lines, functions, current = {}, {}, ""
    for text in open(path):
        kind, _, value = text.strip().partition(":")
        if kind == "SF":
            current = value
        if current != source:
            continue
        if kind == "DA":
            number, count = value.split(",")[:2]
            lines[int(number)] = int(count)
        if kind == "FNDA":
            count, name = value.split(",")
            functions[name] = int(count)
    return lines, functions


def is_allowed(level, text, of_gcov, of_trace):
    if of_trace is None and re.fullmatch(r"(case .*|default):", text.strip()):
        return True
    if of_gcov is None and text.strip() == "}":
        return True
    return level != "O0" and "// -O2: " in text


def main():
    level, source, gcov, info, times = sys.argv[1:]
    times = int(times)
    texts = open(source).read().splitlines()
    gcov_lines, gcov_functions = gcov_counts(gcov)
    info_lines, info_functions = info_counts(info, source)
    equal = explained = wrong = 0
    for number in sorted(gcov_lines.keys() | info_lines.keys()):
        of_gcov, of_trace = gcov_lines.get(number), info_lines.get(number)
        if of_gcov is not None and of_trace == of_gcov * times:
            equal += 1
        elif is_allowed(level, texts[number - 1], of_gcov, of_trace):
            explained += 1
        else:
            wrong += 1
            print(f"{number}: gcov {of_gcov}, trace {of_trace}: {texts[number - 1]}")
    for name, count in gcov_functions.items():
        if info_functions.get(name) == count * times:
            equal += 1
        else:
            wrong += 1
            print(f"{name}: gcov {count}, trace {info_functions.get(name)}")
    print(f"{equal} equal, {explained} explained, {wrong} wrong")
    sys.exit(wrong > 0 or equal < 50)


if __name__ == "__main__":
    main()
