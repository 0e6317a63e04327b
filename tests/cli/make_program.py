#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_program.py FILE FUNCTION_BYTES <TEXT: write an ELF program for ppc64le with the user code that ran.

TEXT has lines "ADDRESS WORD", as `htmtrace decode --fields ea,op` prints them. The first word of an address counts.
The program has a function "uADDRESS" for every FUNCTION_BYTES bytes, and a build ID.
"""
import struct
import sys

NOTE = struct.pack("<III4s", 4, 20, 3, b"GNU\0") + bytes(range(20))  # NT_GNU_BUILD_ID
HEADER_BYTES = 64 + 2 * 56


def sections(text, begin, names, symbols, at):
    """(name, type, flags, address, bytes, link, info, entry bytes) of all sections, from offset `at` on."""
    return [("", 0, 0, 0, b"", 0, 0, 0),
            (".note.gnu.build-id", 7, 2, 0, NOTE, 0, 0, 0),
            (".text", 1, 6, begin, text, 0, 0, 0),
            (".symtab", 2, 0, 0, symbols, 4, 1, 24),
            (".strtab", 3, 0, 0, names, 0, 0, 0)]


def main():
    path, step = sys.argv[1], int(sys.argv[2])
    words = {}
    for line in sys.stdin:
        address, word = line.split()
        if address == "-" or word == "-" or int(address, 16) >> 52:
            continue
        for i in range(0, len(word), 8):
            words.setdefault(int(address, 16) + i // 2, int(word[i:i + 8], 16))
    begin, end = min(words) & ~0xffff, max(words) + 4
    text = b"".join(struct.pack("<I", words.get(at, 0)) for at in range(begin, end, 4))
    names, symbols = b"\0", bytes(24)
    for at in range(begin, end, step):
        if any(word in words for word in range(at, min(at + step, end), 4)):
            symbols += struct.pack("<IBBHQQ", len(names), 0x12, 0, 2, at, min(step, end - at))
            names += f"u{at:x}".encode() + b"\0"
    text_at = 0x10000  # congruent to the address
    content, headers, labels = b"", b"", b""
    parts = sections(text, begin, names, symbols, text_at)
    at = text_at + len(text)
    for name, kind, flags, address, data, link, info, entry in parts:
        place = text_at if name == ".text" else HEADER_BYTES if name.startswith(".note") else at + len(content)
        if place >= at:
            content += data
        headers += struct.pack("<IIQQQQIIQQ", len(labels), kind, flags, address, place, len(data), link, info, 4, entry)
        labels += name.encode() + b"\0"
    label = len(labels)
    labels += b".shstrtab\0"
    headers += struct.pack("<IIQQQQIIQQ", label, 3, 0, 0, at + len(content), len(labels), 0, 0, 1, 0)
    content += labels
    # e_flags 2: the ELFv2 ABI. Machine 21: EM_PPC64.
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    elf = ident + struct.pack("<HHIQQQIHHHHHH", 2, 21, 1, begin, 64, at + len(content), 2, 64, 56, 2, 64,
                              len(parts) + 1, len(parts))
    elf += struct.pack("<IIQQQQQQ", 1, 5, text_at, begin, begin, len(text), len(text), 0x10000)
    elf += struct.pack("<IIQQQQQQ", 4, 4, HEADER_BYTES, 0, 0, len(NOTE), len(NOTE), 4)
    elf += NOTE
    elf += bytes(text_at - len(elf)) + text + content + headers
    with open(path, "wb") as file:
        file.write(elf)


if __name__ == "__main__":
    main()
