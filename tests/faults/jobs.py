# SPDX-License-Identifier: GPL-2.0-or-later
"""The jobs of the fault test: what htmtrace does on a machine without POWER's PMUs. A new command, format or output
gets a job here."""
import dataclasses
import gzip
import os
import pathlib
import re
import shutil
import struct
import subprocess


@dataclasses.dataclass
class Job:
    """Runs in an empty folder, with its inputs in ../in."""
    name: str
    arguments: list
    copies: list = dataclasses.field(default_factory=list)  # (input, name in the folder)
    stdin: str = None  # an input
    prints: bool = True  # the standard output is always the same
    status: int = 0  # without a fault
    failed: int = 1  # the status of a failure
    without: tuple = ()  # kinds of calls that do not fail
    records: bool = False  # uses the simulated PMU, and a failed run keeps what it has recorded
    ready: str = None  # the file of --ready-file
    one_by_one: bool = False  # its outputs do not appear together
    remembered: str = None  # the located cores that htmtrace remembers
    falls_back: bool = False  # after a failure, it tries another way, whose message has another reason
    before: dict = dataclasses.field(default_factory=dict)  # files that the folder has ahead of the run


def job(name, arguments, **more):
    return Job(name, arguments.split(), **more)


OLD = [("old", "out")]
PROGRAM_TOOLS = shutil.which("powerpc64le-linux-gnu-as")
RECORDING = [("folder/" + name, "folder/" + name)
             for name in ("manifest.json", "htm.bin.n0.p0.c4", "htm.bin.n0.p0.c8", "htm.kallsyms",
                          "translation.n0.p0.c4", "translation.n0.p0.c8")]


EARLIER = [("earlier/" + name, "recording/" + name) for name in ("manifest.json", "htm.bin.n0.p0.c4",
                                                                 "translation.n0.p0.c4")]


def record_jobs():
    # /proc/kallsyms takes thousands of system calls, and each would need a run.
    record = "record --no-symbols --chip 0 --duration 5ms"
    yield job("record", f"{record} --core 4 -o recording", records=True)
    yield job("record two targets, compressed", f"{record} --core 4,8 --compress -o recording", records=True)
    # Several files do not appear at once: if the second cannot get its name, the first has lost its old content.
    yield job("record over an earlier recording", f"{record} --core 4 --force -o recording", records=True,
              copies=EARLIER, without=("rename",))
    yield job("record several windows", f"{record} --core 4 --windows 2 -o recording", records=True)
    yield job("record with a ready file", f"{record} --core 4 -o recording --ready-file ready", records=True,
              ready="ready")
    yield job("record with a ready file in its folder", f"{record} --core 4 -o new/recording "
              "--ready-file new/recording/ready", records=True, ready="new/recording/ready")
    yield job("record a stream", f"{record} --core 4 -o -", records=True, prints=False)
    yield job("record a program", "record --no-symbols --type nest --chip 0 -o recording -- true", records=True)


def crc32c(text):
    """CRC-32C of RFC 3720."""
    value = 0xffffffff
    for byte in text.encode():
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    return value ^ 0xffffffff


def remembered_core(cpu, core, boot_id=None):
    """The line of htmtrace's memory of located cores, with the state of this machine (location_stamp.h)."""
    def state_of(path):
        return path.stat().st_ino if path.exists() else 0

    def word_of(path):
        return re.sub(r"[^!-~]", "_", path.read_text()) if path.exists() else ""

    stamp = "boot=" + (boot_id or word_of(pathlib.Path("/proc/sys/kernel/random/boot_id")))
    for name in ("model", "system-id"):
        path = pathlib.Path("/sys/firmware/devicetree/base") / name
        stamp += f";{name}={state_of(path)}:{word_of(path)}"
    for name in ("of_node", "topology", "cache"):
        stamp += f";{name}={state_of(pathlib.Path(f'/sys/devices/system/cpu/cpu{cpu}') / name)}"
    line = f"{cpu} {core} {stamp}"
    return f"{line} {crc32c(line):08x}\n"


def locate_jobs():
    """No failure turns a wrong core into an answer. Only POWER can run a marker, and the simulated trace has none."""
    cpu = min(os.sched_getaffinity(0))
    yield job("locate a remembered core", f"locate --cpu {cpu}", records=True, falls_back=True,
              remembered=remembered_core(cpu, "1 2 3"))
    yield job("locate a core of another boot", f"locate --cpu {cpu}", records=True, falls_back=True, status=1,
              remembered=remembered_core(cpu, "1 2 3", "another"))
    yield job("locate a damaged answer", f"locate --cpu {cpu}", records=True, falls_back=True, status=1,
              remembered=remembered_core(cpu, "1 2 3").replace(" 3 ", " 4 ", 1))
    yield job("locate among candidates", f"locate --cpu {cpu} --chip 0 --core 4,8", records=True, falls_back=True,
              status=1, remembered=remembered_core(cpu, "1 2 3"))


def all_jobs():
    core = "decode --translation ../in/map --partition 0 -j 1"
    nest = "decode --type nest --translation ../in/map --partition 0"
    yield job("version", "--version")
    yield job("help", "decode --help")
    yield job("decode", f"{core} ../in/core")
    yield job("decode, several threads", "decode --translation ../in/map --partition 0 -j 3 ../in/large")
    yield job("decode a folder with symbols", "decode -j 2 --symbols ../in/folder")
    yield job("decode JSON", f"{core} --format json ../in/core")
    yield job("decode CSV to a file", f"{core} --format csv -o out ../in/core")
    yield job("decode text over an old file", f"{core} --walks --stamps --modes --force -o out ../in/core", copies=OLD)
    yield job("decode to an existing file", f"{core} -o out ../in/core", copies=OLD, status=1)
    yield job("decode disassembled", f"{core} --disassemble --limit 500 -o out ../in/core")
    yield job("decode summary", f"{core} --summary ../in/core")
    yield job("decode chosen fields", f"{core} --fields insn,tick,ea,sym,asm,dea --kallsyms ../in/kallsyms -o out "
              "../in/core")
    yield job("decode by name", f"{core} --function start --exit-code --kallsyms ../in/kallsyms ../in/core",
              failed=2)
    yield job("decode chosen fields of a bus trace", f"{nest} --fields time,ttype,ra,la --format csv ../in/bus")
    yield job("decode a selection with the index", f"{core} --last 50 ../in/indexed/core")
    yield job("decode Avro", f"{core} --format avro --part-rows 500 -o out ../in/core")
    yield job("decode Parquet", f"{core} --format parquet --part-rows 500 -o out ../in/core")
    yield job("decode a bus trace to Parquet", f"{nest} --format parquet -o out ../in/bus")
    yield job("decode for simulators", f"{core} --format qtrace --force -o out ../in/core", copies=OLD)
    yield job("decode perf.data over an old file", f"{core} --format perf --stacks --branches 4 --kallsyms ../in/kallsyms "
              "--force -o out ../in/core", copies=OLD)
    yield job("decode block vectors", f"{core} --format bbv --interval 300 --blocks blocks -o out ../in/core",
              one_by_one=True)
    yield job("decode a packed trace", f"{core} ../in/core.gz")
    yield job("decode a pipe", f"{core} --first 200 -", stdin="core")
    yield job("decode a stream", "decode -j 1 -", stdin="stream")
    yield job("decode perf script", f"{core} ../in/core.data")
    yield job("decode a bus trace", f"{nest} ../in/bus")
    yield job("decode a bus trace to Avro", f"{nest} --format avro -o out ../in/bus")
    yield job("decode a bus trace to JSON", f"{nest} --format json --force -o out ../in/bus", copies=OLD)
    yield job("decode with perf's command line", "decode --type nest --format htmdecode ../in/bus")
    report = "report --translation ../in/map --partition 0 --kallsyms ../in/kallsyms"
    yield job("report", f"{report} -o out ../in/core")
    yield job("report JSON over an old file", f"{report} --format json --force -o out ../in/core", copies=OLD)
    yield job("report blocks", f"{report} --blocks --format csv ../in/core")
    yield job("report stacks", f"{report} --stacks -o out ../in/core")
    yield job("report passages", f"{report} --between start,inner -o out ../in/core")
    yield job("report a timeline", f"{report} --timeline --format perfetto -o out ../in/core")
    yield job("report a heat map", f"{report} --heat-map --format svg -o out ../in/core")
    yield job("report a flame graph", f"{report} --calls --format svg -o out ../in/core")
    yield job("report a callgrind file", f"{report} --format callgrind -o out ../in/core")
    yield job("report a page over an old file", f"{report} --force --html out ../in/core", copies=OLD)
    yield job("report a page of a bus trace", "report --type nest --html out ../in/bus")
    yield job("report a bus trace", "report --type nest -o out ../in/bus")
    yield job("report a folder with programs", f"report --elf {os.path.realpath('/bin/true')}@10000000 ../in/folder")
    yield job("report the address field", "report --type nest --infer-address --partition 0 "
              "--translation ../in/map ../in/bus")
    if PROGRAM_TOOLS:
        program = "--elf ../in/program ../in/listed"
        yield job("decode source lines", f"decode --fields ea,sym,line,inlined -o out {program}")
        yield job("report source lines", f"report --lines --force -o out {program}", copies=OLD)
        yield job("report inlined functions", f"report --stacks --inlined -o out {program}")
        yield job("report the coverage of a program", f"report --format lcov -o out {program}")
        yield job("report a profile", f"report --format llvm-profile --force -o out {program}", copies=OLD)
        yield job("report calls for a linker", f"report --format call-order -o out {program}")
        yield job("annotate", f"annotate sum {program}")
    yield job("replay", "replay --gdb - ../in/core", stdin="packets")
    yield job("diff", "diff -o out ../in/core ../in/other")
    yield job("diff folders as JSON", "diff --format json --force -o out ../in/folder ../in/folder", copies=OLD)
    yield job("index", "index --interval 16K core", copies=[("core", "core")])
    yield job("index again", "index --interval 16K core", copies=[("core", "core"), ("old", "core.index")])
    yield job("index a folder", "index --interval 16K folder", copies=RECORDING, one_by_one=True)
    yield job("index a bus trace", "index --type nest bus", copies=[("bus", "bus")])
    yield job("dtl entries", "dtl -i ../in/log.dtl --tasks")
    yield job("dtl JSON", "decode ../in/log.dtl --format json -o out")
    yield job("dtl summary", "dtl -i ../in/log.dtl --summary --check --kallsyms ../in/kallsyms")
    yield job("dtl summary JSON", "dtl -i ../in/log.dtl --summary --tasks --format json")
    yield job("dtl series", "dtl -i ../in/log.dtl --interval 1ms --format csv")
    yield job("dtl for perf", "dtl -i ../in/log.dtl --format perf --force -o out", copies=OLD)
    yield job("dtl timeline", "dtl -i ../in/log.dtl --format perfetto -o out")
    yield job("dtl metrics", "dtl -i ../in/log.dtl --metrics out", copies=OLD)
    yield job("dtl import", "dtl -i ../in/log.data --format csv")
    yield job("dtl import of a pipe", "dtl -i /dev/stdin --summary --kallsyms ../in/kallsyms", stdin="log.data")
    yield job("dtl import to a timeline", "dtl -i ../in/log.data --format perfetto -o out")
    yield job("list", "list --root ../in/machine")
    yield job("list JSON", "list --json --root ../in/machine")
    yield job("doctor", "doctor --root ../in/machine --no-try", prints=False, status=1)
    yield job("doctor JSON", "doctor --json --root ../in/machine --no-try", prints=False, status=1)
    yield from record_jobs()
    yield from locate_jobs()
    if not os.path.exists("/sys/bus/event_source/devices/htm"):
        yield job("record without a PMU", "record --chip 0 --core 0 -o recording -- true", status=1)
    if not os.path.exists("/sys/bus/event_source/devices/vpa_dtl"):
        yield job("dtl without a PMU", "dtl --duration 10ms -o out", status=1)


MANIFEST = """{"partition_id": 0, "targets": [{"node": 0, "chip": 0, "core": 4, "type": "core"},
 {"node": 0, "chip": 0, "core": 8, "type": "core"}]}
"""


def frame(kind, position, content):
    """A frame of a stream, htmtrace-stream(5)."""
    return b"HTMF" + struct.pack("<HHIIQQ", kind, 0, 1, 0, position, len(content)) + content


def make_pmu(folder, trace, memory):
    """The files of the htm PMU in sysfs (kmod/ABI), and what its events deliver."""
    pmu = folder / "htm"
    for name in ("format", "events"):
        (pmu / name).mkdir(parents=True)
    (pmu / "type").write_text("77\n")
    (pmu / "capabilities").touch()
    terms = {"event": "config:0-27", "htm_type": "config:0-3", "nodeindex": "config:4-11",
             "nodalchipindex": "config:12-19", "coreindexonchip": "config:20-27", "wrap": "config1:0"}
    for name, bits in terms.items():
        (pmu / "format" / name).write_text(bits + "\n")
    for number, name in enumerate(("htm_nest", "htm_core", "htm_llat"), 1):
        (pmu / "events" / name).write_text(f"event={number:#04x}\n")
    (folder / "trace").write_bytes(trace)
    (folder / "map").write_bytes(memory)


def make_program(folder, generators, run):
    """A program with source lines, and a trace of its words, one after the other."""
    tool = "powerpc64le-linux-gnu-"
    run(tool + "as", pathlib.Path(__file__).resolve().parent.parent / "lines/sum.s", "-o", "sum.o")
    run(tool + "ld", "-Ttext=0x10000000", "sum.o", "-o", "program")
    run(tool + "objcopy", "-O", "binary", "-j", ".text", "program", "words")
    words = struct.iter_unpack("<I", (folder / "words").read_bytes())
    lines = "".join(f"{0x10000000 + 4 * number:x} {word:x}\n" for number, (word,) in enumerate(words))
    subprocess.run([generators / "make_listed_trace", "listed", "listed.map"], cwd=folder, check=True, input=lines, text=True)


def packet(payload):
    """A packet of gdb's remote protocol."""
    return f"${payload}#{sum(payload.encode()) & 0xff:02x}"


def make_inputs(folder, htmtrace, generators, recorder_environment):
    """Writes all inputs. `generators` is the folder of tests/generator's programs."""
    folder = pathlib.Path(folder)

    def run(*command, environment=None):
        subprocess.run([str(part) for part in command], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=environment)

    run(generators / "make_core_trace", "power10", 20000, "core", "map")
    run(generators / "make_core_trace", "power10", 500000, "large", "map")
    run(generators / "make_core_trace", "power10", 25000, "other", "map")
    run(generators / "make_nest_trace", 20000, "bus")
    run(generators / "make_dispatch_log", 400, 2, "log.dtl", "tasks")
    run(generators / "make_perf_data", "later", "core.data", "0x400002", "core", "map")
    run(htmtrace, "dtl", "-i", "log.dtl", "--format", "perf", "-o", "log.data")
    (folder / "kallsyms").write_text("c000000000000000 T start\nc000000000010000 t inner\t[nest_pmu]\n")
    (folder / "old").write_text("the old output\n")
    (folder / "folder").mkdir()
    (folder / "folder/manifest.json").write_text(MANIFEST)
    (folder / "folder/htm.kallsyms").write_bytes((folder / "kallsyms").read_bytes())
    core, memory = (folder / "core").read_bytes(), (folder / "map").read_bytes()
    for number in (4, 8):
        (folder / f"folder/htm.bin.n0.p0.c{number}").write_bytes(core)
        (folder / f"folder/translation.n0.p0.c{number}").write_bytes(memory)
    half = len(core) // 16 * 8
    (folder / "stream").write_bytes(
        frame(1, 0, MANIFEST.encode()) + frame(2, 0, core[:half]) + frame(2, half, core[half:]) + frame(3, 0, memory) +
        frame(4, 0, b""))
    (folder / "indexed").mkdir()
    (folder / "indexed/core").write_bytes(core)
    run(htmtrace, "index", "--interval", "4K", "indexed/core")
    (folder / "machine").mkdir()
    make_pmu(folder / "pmu", core, memory)
    run(htmtrace, "record", "--no-symbols", "--chip", 0, "--core", 4, "--duration", "5ms", "-o", "earlier",
        environment=recorder_environment | {"FAULTS_PMU": str(folder / "pmu")})
    (folder / "core.gz").write_bytes(gzip.compress(core))
    (folder / "packets").write_text("+".join(map(packet, ("?", "g", "s", "bs", "c", "qXfer:threads:read::0,1000", "D"))))
    if PROGRAM_TOOLS:
        make_program(folder, generators, run)
