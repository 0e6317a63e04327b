# SPDX-License-Identifier: GPL-2.0-or-later
"""split_log.py LOG FIRST SECOND: divides a dispatch trace log into two parts, as --rotate does. htmtrace-dtl(5)."""
import struct
import sys

START, CLOCK, ENTRIES, END = 1, 2, 3, 4
data, at, blocks = open(sys.argv[1], "rb").read(), 0, []
while at < len(data):
    kind, length = data[at + 4], struct.unpack(">I", data[at + 8:at + 12])[0]
    blocks.append((kind, data[at:at + 40 + length]))
    at += 40 + length
head = b"".join(block for kind, block in blocks if kind in (START, CLOCK))
end = b"".join(block for kind, block in blocks if kind == END)
entries = [block for kind, block in blocks if kind == ENTRIES]
middle = len(entries) // 2
assert middle > 0 and end
for name, part in ((sys.argv[2], entries[:middle]), (sys.argv[3], entries[middle:])):
    with open(name, "wb") as file:
        file.write(head + b"".join(part) + end)
