#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_monotonic.py FILE...: fails if a counter or bucket is lower than in the preceding file of metrics."""
import sys

last, samples = {}, 0
for name in sys.argv[1:]:
    counters = set()
    for line in open(name):
        if line.startswith("# TYPE "):
            _, _, metric, kind = line.split()
            if kind == "counter":
                counters.add(metric)
            elif kind == "histogram":
                counters |= {metric + "_bucket", metric + "_count", metric + "_sum"}
        elif not line.startswith("#"):
            sample, value = line.rsplit(" ", 1)
            if sample.partition("{")[0] not in counters:
                continue
            samples += 1
            if float(value) < last.get(sample, 0):
                sys.exit(f"{name}: {sample} fell from {last[sample]} to {value.strip()}")
            last[sample] = float(value)
print(f"{samples} samples of {len(last)} counters in {len(sys.argv) - 1} files")
sys.exit(samples == 0)
