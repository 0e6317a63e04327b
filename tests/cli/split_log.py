# SPDX-License-Identifier: GPL-2.0-or-later
"""split_log.py LOG FIRST SECOND [PART [STATUS]]: divides a dispatch trace log into two parts, as --rotate does: see
htmtrace-dtl(5). With PART, the files state that they are the parts PART and PART + 1 of recording 5. STATUS is the exit
status at the end of FIRST."""
import re
import struct
import sys

START, CLOCK, ENTRIES, END = 1, 2, 3, 4


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def text_block(kind, text):
    header = b"HDL1" + struct.pack(">BxHIIQQI", kind, 0, len(text), 0, 0, 0, crc32c(text))
    return header + struct.pack(">I", crc32c(header)) + text


log, names, part, status = sys.argv[1], sys.argv[2:4], sys.argv[4:5], sys.argv[5:6]
data, at, blocks = open(log, "rb").read(), 0, []
while at < len(data):
    kind, length = data[at + 4], struct.unpack(">I", data[at + 8:at + 12])[0]
    blocks.append((kind, data[at:at + 40 + length]))
    at += 40 + length
heads, ends = [b"".join(block for kind, block in blocks if kind in (START, CLOCK))] * 2, \
    [b"".join(block for kind, block in blocks if kind == END)] * 2
entries = [block for kind, block in blocks if kind == ENTRIES]
middle = len(entries) // 2
assert middle > 0 and ends[0]
if part:
    kept = re.sub(rb"(recording|part) [0-9]+\n", b"", blocks[0][1][40:])
    clock = b"".join(block for kind, block in blocks if kind == CLOCK)
    heads = [text_block(START, kept + b"recording 5\npart %d\n" % number) + clock
             for number in (int(part[0]), int(part[0]) + 1)]
if status:
    ends[0] = text_block(END, b"status %s\n" % status[0].encode())
for name, head, some, end in zip(names, heads, (entries[:middle], entries[middle:]), ends):
    with open(name, "wb") as file:
        file.write(head + b"".join(some) + end)
