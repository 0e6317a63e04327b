# SPDX-License-Identifier: GPL-2.0-or-later
"""check_merge.py MERGED OWN OTHER...: compares the CSV of `dtl --merge` with the entries of the files.

OWN and each OTHER are NAME=FILE: a partition, and the CSV of all entries of its recording. Divides each wait by the
ranges of ticks that the wait has in common with the runs.
"""
import bisect
import collections
import csv
import sys


def entries_of(path):
    names = ("timebase", "processor_id", "enqueue_to_dispatch", "ready_to_enqueue", "waiting_to_ready")
    by_cpu = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            row = {key.removesuffix("_time"): value for key, value in row.items()}
            by_cpu[int(row["cpu"])].append(tuple(int(row[name]) for name in names))
    return by_cpu


recordings = [(name, entries_of(path)) for name, path in (each.split("=") for each in sys.argv[2:])]
runs = collections.defaultdict(list)  # by processor: begin, owner, end
for order, (name, by_cpu) in enumerate(recordings):
    end = max(entry[0] for entries in by_cpu.values() for entry in entries)
    for cpu, entries in by_cpu.items():
        stops = [entry[0] - sum(entry[2:]) for entry in entries[1:]] + [end]
        for entry, stop in zip(entries, stops):
            runs[entry[1]].append((entry[0], (order, cpu), max(stop, entry[0])))
for each in runs.values():
    each.sort()
parts = collections.defaultdict(lambda: [0, 0, 0])


def count(key, ticks):
    if ticks:
        part = parts[key]
        part[:] = part[0] + 1, part[1] + ticks, max(part[2], ticks)


for cpu, entries in recordings[0][1].items():
    for before, (timebase, processor, queued, ready, _) in zip([(0,)] + entries, entries):
        wait, held = min(queued + ready, timebase - before[0]), collections.Counter()
        there = runs[processor]
        at = max(bisect.bisect_left(there, (timebase - wait,)) - 1, 0)
        for run, following in zip(there[at:], there[at + 1:] + [(1 << 64,)]):
            if run[0] >= timebase:
                break
            ticks = min(run[2], following[0], timebase) - max(run[0], timebase - wait)
            held[run[1]] += max(ticks, 0)
        for (order, owner), ticks in held.items():
            count((recordings[order][0], str(owner)), ticks)
        for order, (name, _) in enumerate(recordings):
            count((name, "all"), sum(ticks for owner, ticks in held.items() if owner[0] == order))
        count(("", "unknown"), wait - sum(held.values()))
        count(("", "all"), wait)

found = {}
for row in csv.DictReader(open(sys.argv[1], newline="")):
    cpu = "unknown" if row["kind"] == "unknown" else row["cpu"]
    found[row["partition"], cpu] = [int(row["waits"]), int(row["time_ns"]), int(row["longest_ns"])]
expected = {key: [part[0], part[1] * 1000 // 512, part[2] * 1000 // 512] for key, part in parts.items()}
assert len(expected) >= 5 and all(part[1] for part in expected.values()), expected
assert found == expected, (found, expected)
