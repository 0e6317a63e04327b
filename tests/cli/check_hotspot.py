#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_hotspot.py FILE SAMPLES NAMES: the output of hotspot's parser has SAMPLES samples, and at least 90 % of the names
in the file NAMES: hotspot 1.3 shows some functions of only a few instructions under the name of a neighbor.

FILE has messages: the size (4 bytes, little-endian), the type (1 byte), and the content. The types are those of
perfparser, the parser's own project."""
import struct
import sys

MAGIC = b"QPERFSTREAM\0"
STRING, SAMPLE = 5, 13


def messages(path):
    data = open(path, "rb").read()
    assert data.startswith(MAGIC), "no messages"
    at = len(MAGIC) + 4  # the version
    while at < len(data):
        size, kind = struct.unpack_from("<IB", data, at)
        yield kind, data[at + 5:at + 4 + size]
        at += 4 + size


kinds = list(messages(sys.argv[1]))
samples = sum(kind == SAMPLE for kind, _ in kinds)
# A STRING has a number, the size of the text, and the text.
texts = {content[8:].decode() for kind, content in kinds if kind == STRING}
names = open(sys.argv[3], encoding="utf-8").read().split()
missing = [name for name in names if name not in texts]
assert samples == int(sys.argv[2]), f"{samples} samples"
assert names and len(missing) * 10 <= len(names), f"{len(missing)} of {len(names)} names are missing: {missing[:5]}"
print(f"{samples} samples, {len(names) - len(missing)} of {len(names)} names")
