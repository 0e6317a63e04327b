#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""parquet_rows.py FILE...: prints the rows of Parquet files as JSON objects, one a line.

A reader for tests, made from the format's description: Debian 12 has none. It checks that the sizes, counts and bounds in
the metadata are those of the pages. It reads the encodings that htmtrace writes.
"""
import json
import subprocess
import sys
import zlib


class Reader:
    """Reads from bytes, in Thrift's compact protocol and in Parquet's own numbers."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, size):
        self.at += size
        assert self.at <= len(self.data), "cut short"
        return self.data[self.at - size : self.at]

    def byte(self):
        return self.take(1)[0]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def fixed(self, size, signed=False):
        return int.from_bytes(self.take(size), "little", signed=signed)

    def value(self, kind):
        if kind in (5, 6):
            return self.zigzag()
        if kind == 8:
            return self.take(self.number())
        if kind == 9:
            head = self.byte()
            size = head >> 4 if head >> 4 != 15 else self.number()
            return [self.value(head & 15) for _ in range(size)]
        assert kind == 12, f"type {kind}"
        fields, last = {}, 0
        while (head := self.byte()) != 0:
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            fields[last] = self.value(head & 15)
        return fields

    def runs(self, width, count):
        """The hybrid of runs and packed values."""
        values = []
        while len(values) < count:
            head = self.number()
            if head & 1:
                bits = self.fixed((head >> 1) * width)
                values += unpack(bits, width, (head >> 1) * 8)
            else:
                values += [self.fixed((width + 7) // 8)] * (head >> 1)
        return values[:count]

    def deltas(self):
        block, parts, count = self.number(), self.number(), self.number()
        values = [self.zigzag()]
        while len(values) < count:
            least, widths = self.zigzag(), self.take(parts)
            for width in widths:
                if len(values) >= count:
                    break
                size = block // parts
                for delta in unpack(self.fixed(size * width // 8), width, size):
                    values.append((values[-1] + least + delta + (1 << 63)) % (1 << 64) - (1 << 63))
        return values[:count]


def unpack(bits, width, count):
    whole = bits.to_bytes((count * width + 7) // 8, "little")
    if width in (8, 16):
        return [int.from_bytes(whole[i : i + width // 8], "little") for i in range(0, len(whole), width // 8)]
    mask, values, word, have, at = (1 << width) - 1, [], 0, 0, 0
    for _ in range(count):
        while have < width:
            word |= whole[at] << have
            have, at = have + 8, at + 1
        values.append(word & mask)
        word, have = word >> width, have - width
    return values


def unpack_snappy(data):
    reader = Reader(data)
    size, out = reader.number(), bytearray()
    while reader.at < len(data):
        tag = reader.byte()
        if tag & 3 == 0:
            length = (tag >> 2) + 1
            out += reader.take(length if length <= 60 else reader.fixed(length - 60) + 1)
            continue
        if tag & 3 == 1:
            length, distance = (tag >> 2 & 7) + 4, tag >> 5 << 8 | reader.byte()
        else:
            length, distance = (tag >> 2) + 1, reader.fixed(2 if tag & 3 == 2 else 4)
        while length > 0:
            piece = out[-distance:][:length] if distance else b""
            out += piece
            length -= len(piece)
    assert len(out) == size
    return bytes(out)


UNPACK = {
    0: bytes,
    1: unpack_snappy,
    2: lambda data: zlib.decompress(data, 31),
    6: lambda data: subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout,
}


def plain(reader, kind, count):
    if kind == 6:
        return [reader.take(reader.fixed(4)).decode() for _ in range(count)]
    return [reader.fixed(4 if kind == 1 else 8, signed=True) for _ in range(count)]


def page(reader, codec):
    header = reader.value(12)
    stored = reader.take(header[3])
    data = UNPACK[codec](stored)
    assert len(data) == header[2], "size of a page"
    return header, Reader(data)


class Column:
    """A column of one group: its levels and its values."""

    def __init__(self, data, chunk, leaf):
        meta = chunk[3]
        assert [part.decode() for part in meta[3]] == leaf["path"], "path of a column"
        reader = Reader(data, meta.get(11, meta[9]))
        begin, dictionary = reader.at, None
        assert chunk[2] == begin, "offset of a column"
        if 11 in meta:
            header, content = page(reader, meta[4])
            dictionary = plain(content, meta[1], header[7][1])
            assert header[1] == 2 and content.at == len(content.data), "dictionary page"
        assert reader.at == meta[9], "offset of the data page"
        header, content = page(reader, meta[4])
        assert header[1] == 0 and reader.at - begin == meta[7], "size of a column"
        count, encoding = header[5][1], header[5][2]
        assert count == meta[5] and encoding in meta[2] and 3 in meta[2], "encodings"
        self.repeats = self.levels(content, 1 if leaf["repeated"] else 0, count)
        self.present = self.levels(content, leaf["most"], count)
        left = sum(level == leaf["most"] for level in self.present)
        if dictionary is not None:
            assert encoding == 8, "encoding"
            self.values = [dictionary[i] for i in content.runs(content.byte(), left)]
        else:
            self.values = content.deltas()[:left] if encoding == 5 else plain(content, meta[1], left)
        assert content.at == len(content.data) and len(self.values) == left, "content of a page"
        self.check_bounds(meta)

    @staticmethod
    def levels(content, most, count):
        if most == 0:
            return [0] * count
        end = content.fixed(4) + content.at
        levels = content.runs(most.bit_length(), count)
        assert content.at == end, "size of levels"
        return levels

    def check_bounds(self, meta):
        bounds = meta[12]
        assert bounds[3] == meta[5] - len(self.values), "number of nulls"
        assert (5 in bounds) == (6 in bounds) == bool(self.values), "bounds"
        if not self.values:
            return
        found = [bounds[6], bounds[5]]
        if meta[1] == 6:
            found = [bound.decode() for bound in found]
        else:
            found = [int.from_bytes(bound, "little", signed=True) for bound in found]
        # Texts are compared by their bytes.
        key = (lambda text: text.encode()) if meta[1] == 6 else None
        assert found == [min(self.values, key=key), max(self.values, key=key)], "bounds"


def leaves_of(schema):
    """The leaves of the tree, which is in depth-first order, and the names of the outermost fields."""
    leaves, at = [], 1

    def walk(path, most, repeated):
        nonlocal at
        element = schema[at]
        at += 1
        kind = element[3]
        path, most, repeated = path + [element[4].decode()], most + (kind != 0), repeated or kind == 2
        for _ in range(element.get(5, 0)):
            walk(path, most, repeated)
        if 5 not in element:
            leaves.append({"path": path, "most": most, "repeated": repeated})

    for _ in range(schema[0][5]):
        walk([], 0, False)
    assert at == len(schema), "schema"
    return leaves


def cells_of(column, leaf):
    """The value of each slot; `...` stands for an empty list."""
    values = iter(column.values)
    for level in column.present:
        if level == leaf["most"]:
            yield next(values)
        else:
            yield ... if leaf["repeated"] and level == 0 else None


def rows_of(path):
    data = open(path, "rb").read()
    assert data[:4] == data[-4:] == b"PAR1", "magic"
    size = int.from_bytes(data[-8:-4], "little")
    footer = Reader(data[-8 - size : -8])
    meta = footer.value(12)
    assert footer.at == size, "size of the footer"
    leaves = leaves_of(meta[2])
    assert len(meta[7]) == len(leaves) and meta[3] == sum(group[3] for group in meta[4]), "counts"
    for group in meta[4]:
        rows = [{} for _ in range(group[3])]
        assert len(group[1]) == len(leaves) and group[2] == sum(chunk[3][6] for chunk in group[1]), "sizes"
        for chunk, leaf in zip(group[1], leaves):
            column = Column(data, chunk, leaf)
            row = -1
            for repeat, cell in zip(column.repeats, cells_of(column, leaf)):
                row += repeat == 0
                if not leaf["repeated"]:
                    rows[row][leaf["path"][0]] = cell
                    continue
                elements = rows[row].setdefault(leaf["path"][0], [])
                if cell is ...:
                    continue
                position = 0 if repeat == 0 else position + 1
                if position == len(elements):
                    elements.append({})
                elements[position][leaf["path"][-1]] = cell
            assert row + 1 == group[3], "number of rows"
        yield from rows


for name in sys.argv[1:]:
    for one in rows_of(name):
        print(json.dumps(one))
