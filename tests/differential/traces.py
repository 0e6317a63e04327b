# SPDX-License-Identifier: GPL-2.0-or-later
"""Random traces, valid and damaged, and the files in which htmtrace reads them: a folder, a stream, perf.data and
compressed files. Shares no code with the program."""
import gzip
import json
import pathlib
import random
import shutil
import struct
import subprocess

PARTITION = 0  # that of the memory map of tests/generator
WORD = 8
LINE = 128
# What the wrapped dump of a trace has after its newest record. htm-core-trace(5), STAMPS.
COMPLETE = 0xaceff10000000005
# The first word of an IEARA record. Several threads cut the trace ahead of the last IEARA of each part.
IEARA = 0x000000003abcdf00
PART_BYTES = 128 << 10
LEAST_BYTES = 500  # of a trace that is damaged

# Names of the code of make_loop_trace.
KALLSYMS = "".join(f"c0000000000{number * 0x400:05x} t f{number}\n" for number in range(40))


class Kind:
    """A kind of traces. `make` are the arguments of its generator, ahead of the names of the files."""

    def __init__(self, name, type_name, make, layout=()):
        self.name, self.type, self.make, self.layout = name, type_name, make, list(layout)

    def __repr__(self):
        return self.name


KINDS = [
    Kind("power10", "core", "make_core_trace power10 {bytes} {trace} {map} {seed}"),
    Kind("power8", "core", "make_core_trace power8 {bytes} {trace} {map} {seed}"),
    Kind("loop", "core", "make_loop_trace {seed} {instructions} {trace} {map}"),
    Kind("bus8", "nest", "make_bus_trace power8 {seed} {records} {trace}"),
    Kind("bus9", "nest", "make_bus_trace power9 {seed} {records} {trace}"),
    # As the records of POWER10, whose layout is not known.
    Kind("bus10", "nest", "make_bus_trace power9 {seed} {records} {trace}", ["--layout", "unknown"]),
]


# ------------------------------------------------------------------------------------------- damage

def flip_bits(data, dice):
    for _ in range(dice.randint(1, 30)):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def cut_end(data, dice):
    del data[dice.randrange(len(data) // 2, len(data)):]


def cut_begin(data, dice):
    del data[:dice.randrange(len(data) // 2) // WORD * WORD]


def replace_words(data, dice):
    for _ in range(dice.randint(1, 30)):
        at = dice.randrange(len(data)) // WORD * WORD
        data[at:at + WORD] = dice.randbytes(len(data[at:at + WORD]))


def drop_words(data, dice):
    for _ in range(dice.randint(1, 20)):
        at = dice.randrange(len(data)) // WORD * WORD
        if len(data) > LEAST_BYTES:
            del data[at:at + dice.randint(1, 40) * WORD]


def drop_bytes(data, dice):
    at = dice.randrange(len(data))
    del data[at:at + dice.randint(1, 15)]


def repeat_words(data, dice):
    for _ in range(dice.randint(1, 10)):
        at = dice.randrange(len(data)) // WORD * WORD
        to = dice.randrange(len(data)) // WORD * WORD
        data[to:to] = data[at:at + dice.randint(1, 60) * WORD]


def zero_words(data, dice):
    at = dice.randrange(len(data)) // WORD * WORD
    size = min(len(data) - at, dice.choice((8, 64, 4096, 70000)))
    data[at:at + size] = bytes(size)


def confuse_parts(data, dice):
    """Puts data that looks like an IEARA, and damage, where threads cut the trace."""
    for end in range(PART_BYTES, len(data), PART_BYTES):
        at = end
        for _ in range(dice.randint(1, 20)):
            at -= dice.randint(1, 40) * WORD
            data[at:at + dice.choice((0, 1, 1, 2)) * WORD] = struct.pack(">Q", IEARA)
            if dice.random() < 0.9:
                data[at + 2 * WORD:at + 3 * WORD] = struct.pack(">Q", dice.randrange(1 << 40) << 24)


def wrap(data, dice):
    """Sometimes without a COMPLETE stamp, or with two of them."""
    at = dice.randrange(len(data)) // LINE * LINE
    data[:] = wrapped(data, at, dice.choice((0, 1, 1, 2)))


def ended(data, stamps=1):
    return bytes(data[:len(data) // WORD * WORD]) + struct.pack(">Q", COMPLETE) * stamps


def wrapped(data, at, stamps=1):
    """The dump of a trace memory that has wrapped: the words from `at` on are the newest ones, and come first."""
    data = ended(data, stamps)
    return data[at:] + data[:at]


DAMAGES = [flip_bits, cut_end, cut_begin, replace_words, drop_words, drop_bytes, repeat_words, zero_words, wrap]


# ------------------------------------------------------------------------------------- compression

def zstd_frame(data):
    """A frame of stored and repeated blocks (RFC 8878), which needs no compressor."""
    blocks = b""
    pieces = [data[at:at + 100000] for at in range(0, len(data), 100000)] or [b""]
    for number, piece in enumerate(pieces):
        last = number + 1 == len(pieces)
        repeated = len(piece) > 1 and piece == piece[:1] * len(piece)
        header = len(piece) << 3 | (1 if repeated else 0) << 1 | last
        blocks += struct.pack("<I", header)[:3] + (piece[:1] if repeated else piece)
    return struct.pack("<IBI", 0xfd2fb528, 0xa0, len(data)) + blocks


def zstd(data, dice):
    """Several frames, some of them of the real compressor."""
    packed = b""
    frame_bytes = dice.choice((1000, 65536, 131072, 200001, 1 << 30))
    for at in range(0, max(len(data), 1), frame_bytes):
        piece = data[at:at + frame_bytes]
        if shutil.which("zstd") and dice.random() < 0.3:
            packed += subprocess.run(["zstd", "-q", "-c"], input=piece, stdout=subprocess.PIPE, check=True).stdout
        else:
            packed += zstd_frame(piece)
        if dice.random() < 0.2:  # a skippable frame
            packed += struct.pack("<II", 0x184d2a50 + dice.randrange(16), 7) + dice.randbytes(7)
    return packed


def gzip_members(data, dice):
    """One or several members in one file."""
    member_bytes = dice.choice((5000, 131072, 1 << 30))
    return b"".join(gzip.compress(data[at:at + member_bytes], dice.choice((1, 9)))
                    for at in range(0, max(len(data), 1), member_bytes))


# ------------------------------------------------------------------------------------------- traces

class Target:
    """One traced unit: its trace and its memory map."""

    def __init__(self, core, trace, memory):
        self.core, self.trace, self.memory = core, trace, memory
        self.suffix = f"n0.p0.c{core}"


class Files:
    """The folder of a trace. Its files appear when an equality asks for them."""

    def __init__(self, kind, seed, folder, generators):
        self.kind, self.seed, self.folder, self.generators = kind, seed, pathlib.Path(folder), generators
        self.dice = random.Random(f"{seed} {kind}")
        self.damaged = []
        self.folder.mkdir()

    def once(self, name, write):
        """The path of a file or folder, which `write` makes when it is missing."""
        path = self.folder / name
        if not path.exists():
            write(path)
        return name


class Trace(Files):
    """A recording of one or two targets."""

    def __init__(self, kind, seed, folder, generators, most_bytes):
        super().__init__(kind, seed, folder, generators)
        # Several threads decode a trace of more than PART_BYTES.
        size = self.dice.choice((3000, 10000, 40000, 300000, 300000, 1000000))
        self.targets = [self.make(core, min(size, most_bytes)) for core in (4, 8)[:self.dice.choice((1, 1, 2))]]
        self.write_folder("rec", lambda data: data)
        (self.folder / "rec/kallsyms").write_text(KALLSYMS)

    def make(self, core, size):
        trace, memory = self.folder / "made", self.folder / "made.map"
        command = self.kind.make.format(bytes=size, instructions=size // 25, records=size // 16, trace=trace,
                                        map=memory, seed=self.dice.randrange(1 << 32))
        program, *arguments = command.split()
        subprocess.run([self.generators / program, *arguments], check=True)
        if "{map}" not in self.kind.make:  # the generators of bus traces write none
            subprocess.run([self.generators / "make_core_trace", "power8", "0", f"{trace}.core", memory], check=True)
        data = bytearray(trace.read_bytes())
        damages = self.dice.choices(DAMAGES, k=self.dice.choice((0, 1, 1, 2)))
        if self.kind.type == "core" and len(data) > PART_BYTES and self.dice.random() < 0.5:
            damages.append(confuse_parts)
        for damage in damages:
            if len(data) > LEAST_BYTES:
                damage(data, self.dice)
                self.damaged.append(damage.__name__)
        known = bytearray(memory.read_bytes())
        if self.dice.random() < 0.15:
            self.dice.choice((flip_bits, cut_end, drop_words))(known, self.dice)
            self.damaged.append("map")
        return Target(core, bytes(data), bytes(known))

    def describe(self):
        sizes = " and ".join(str(len(target.trace)) for target in self.targets)
        return f"seed {self.seed}: {self.kind}, {sizes} bytes, {' '.join(self.damaged) or 'not damaged'}"

    @property
    def manifest(self):
        return json.dumps({"partition_id": PARTITION, "targets": [
            {"node": 0, "chip": 0, "core": target.core, "type": self.kind.type} for target in self.targets]}).encode()

    def write_folder(self, name, pack, suffix=""):
        folder = self.folder / name
        folder.mkdir()
        (folder / "manifest.json").write_bytes(self.manifest)
        for target in self.targets:
            (folder / f"htm.bin.{target.suffix}{suffix}").write_bytes(pack(target.trace))
            (folder / f"translation.{target.suffix}").write_bytes(target.memory)
        return folder

    def file(self, folder="rec", suffix="", number=0):
        return f"{folder}/htm.bin.{self.targets[number].suffix}{suffix}"

    def compressed(self, suffix):
        dice = random.Random(f"{self.seed} {suffix}")
        pack = {".zst": zstd, ".gz": gzip_members}[suffix]
        return self.once("rec" + suffix,
                         lambda path: self.write_folder(path.name, lambda data: pack(data, dice), suffix))

    def stream(self):
        """htmtrace-stream(5). The frames of the targets are mixed."""
        def frame(kind, target, position, content):
            return b"HTMF" + struct.pack("<HHIIQQ", kind, target, 1, 0, position, len(content)) + content

        def write(path):
            dice = random.Random(f"{self.seed} stream")
            frames, positions = [frame(1, 0, 0, self.manifest)], [0] * len(self.targets)
            while any(at < len(target.trace) for at, target in zip(positions, self.targets)):
                number = dice.randrange(len(positions))
                at, size = positions[number], dice.choice((8, 5000, 65536, 262144))
                content = self.targets[number].trace[at:at + size]
                frames.append(frame(2, number, at, content))
                positions[number] += len(content)
            frames += [frame(3, number, 0, target.memory) for number, target in enumerate(self.targets)]
            path.write_bytes(b"".join(frames) + frame(4, 0, 0, b""))

        return self.once("rec.stream", write)

    def perf_data(self):
        def write(path):
            events = []
            for number, target in enumerate(self.targets):
                event = {"nest": 1, "core": 2}[self.kind.type] | target.core << 20
                events += [hex(event), self.file(number=number), f"rec/translation.{target.suffix}"]
            subprocess.run([self.generators / "make_perf_data", "later", path.name, *events], cwd=self.folder,
                           check=True)

        return self.once("rec.data", write)
