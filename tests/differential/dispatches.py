# SPDX-License-Identifier: GPL-2.0-or-later
"""Random dispatch trace logs, and the table of their equalities. A new equality is one entry of EQUALITIES."""
import collections
import functools
import itertools
import json
import random
import re
import subprocess

import traces
from equalities import OUTCOME, STDOUT, WHOLE, Equality

# Plausible entries in a recording of htmtrace, and any entries in a perf.data file.
KINDS = [traces.Kind("log", "log", ""), traces.Kind("any-log", "log", "")]
LOGS = ("log",)

# Those of make_dispatch_log.
TICKS_PER_SECOND, BOOT_TIMEBASE = 512_000_000, 0

# perf's names of the codes. htmtrace-dtl(1), OUTPUT
DISPATCH_REASONS = ("external_interrupt", "firmware_internal_event", "H_PROD", "decrementer_interrupt", "system_reset",
                    "firmware_internal_event", "conferred_cycles", "time_slice", "virtual_memory_page_fault",
                    "expropriated_adjunct", "priv_doorbell")
PREEMPT_REASONS = ("unused", "firmware_internal_event", "H_CEDE", "H_CONFER", "time_slice",
                   "migration_hibernation_page_fault", "virtual_memory_page_fault", "H_CONFER_ADJUNCT", "hcall_adjunct",
                   "HDEC_adjunct")
WAITS = ("enqueue_to_dispatch", "ready_to_enqueue", "waiting_to_ready")
LATE_TICKS = TICKS_PER_SECOND // 100  # a dispatch window of PowerVM


class Log(traces.Files):
    """A dispatch trace log."""

    def __init__(self, kind, seed, folder, generators, most_bytes):
        super().__init__(kind, seed, folder, generators)
        # A group of some thousand entries has statistics.
        entries = min(self.dice.choice((1, 300, 5000, 40000, 200000)), max(most_bytes // 6, 2000))
        cpus = self.dice.choice((1, 2, 5, 40))
        self.tasks = []
        if kind.name == "log":
            self.file = "rec.dtl"
            self.tasks = ["--tasks"] if self.dice.random() < 0.5 else []
            subprocess.run([self.generators / "make_dispatch_log", str(entries), str(cpus), self.file,
                            *(["tasks"] if self.tasks else []), str(1 + self.dice.randrange(1 << 16))],
                           cwd=self.folder, check=True)
            if self.dice.random() < 0.5:
                self.damage()
        else:
            self.file = "rec.data"
            (self.folder / self.file).write_bytes(perf_data_of(list(random_entries(self.dice, entries, cpus))))

    def damage(self):
        """A file without its first block is no recording."""
        data = (self.folder / self.file).read_bytes()
        begin, end = data[:4096], bytearray(data[4096:])
        for damage in self.dice.sample(traces.DAMAGES[:-1], self.dice.choice((1, 2))):
            if len(end) > traces.LEAST_BYTES:
                damage(end, self.dice)
                self.damaged.append(damage.__name__)
        (self.folder / self.file).write_bytes(begin + end)

    def describe(self):
        size = (self.folder / self.file).stat().st_size
        return f"seed {self.seed}: {self.kind}, {size} bytes, {' '.join(self.tasks + self.damaged)}"


def code_of(name, names):
    return names.index(name) if name in names else int(name)


def raw_entry(entry):
    """The 48 bytes of an entry, which the hypervisor writes."""
    reasons = bytes((code_of(str(entry["dispatch_reason"]), DISPATCH_REASONS),
                     code_of(str(entry["preempt_reason"]), PREEMPT_REASONS)))
    return (reasons + entry["processor_id"].to_bytes(2, "big") +
            b"".join(entry[wait + "_time"].to_bytes(4, "big") for wait in WAITS) +
            entry["timebase"].to_bytes(8, "big") +
            b"".join(int(entry[name], 16).to_bytes(8, "big") for name in ("fault_addr", "srr0", "srr1")))


def random_entries(dice, count, cpus):
    """Entries of any content. The entries of each CPU are in the order of time."""
    times = collections.Counter({cpu: dice.randrange(1 << 40) for cpu in range(cpus)})

    def any_number(bits):
        return dice.randrange(1 << dice.randrange(bits + 1))

    for _ in range(count):
        cpu = dice.randrange(cpus) if dice.random() < 0.02 else list(times)[-1]
        times[cpu] = times.pop(cpu) + any_number(30)  # the last key is the current CPU
        reason = any_number(8)
        # Code 5 has the name of code 1.
        yield {"cpu": cpu, "timebase": times[cpu], "dispatch_reason": 1 if reason == 5 else reason,
               "preempt_reason": any_number(8), "processor_id": any_number(16),
               **{wait + "_time": any_number(32) for wait in WAITS},
               **{name: hex(any_number(64)) for name in ("fault_addr", "srr0", "srr1")}}


class PerfData:
    """A perf.data file of vpa_dtl events, as perf writes it: one event for all CPUs."""
    PMU = 1000
    FEATURES = (6, 12, 16)  # architecture, event descriptions, names of the PMUs

    def __init__(self, cpus):
        self.cpus = {cpu: 100 + number for number, cpu in enumerate(cpus)}
        self.positions = collections.Counter()
        self.data = self.record(70, numbers(4, 7, 0) + numbers(8, self.PMU))
        for cpu, identity in self.cpus.items():
            self.data += self.record(69, numbers(8, 1, identity, identity - 100, cpu, (1 << 64) - 1))

    @staticmethod
    def record(kind, body):
        return numbers(4, kind) + numbers(2, 0, len(body) + 8) + body

    @staticmethod
    def text(words):
        size = len(words) // 64 * 64 + 64
        return numbers(4, size) + words.encode().ljust(size, b"\0")

    def attribute(self):
        # IDENTIFIER, IP, TID, TIME, CPU; disabled, sample_id_all.
        body = numbers(4, self.PMU, 120) + numbers(8, 7, 1_000_000, 0x10087, 0, 1 | 1 << 18)
        return body.ljust(120, b"\0")

    def add(self, cpu, raw):
        """The AUX area of a CPU begins with the clock."""
        at = self.positions[cpu]
        content = (b"" if at else numbers(8, BOOT_TIMEBASE, TICKS_PER_SECOND).ljust(48, b"\0")) + raw
        self.positions[cpu] += len(content)
        place = numbers(8, len(content), at, 0) + numbers(4, self.cpus[cpu] - 100, 0xffffffff, cpu, 0)
        self.data += self.record(71, place)
        self.data += content

    def finish(self):
        identities = numbers(8, *self.cpus.values())
        attributes = 104 + len(identities)
        begin = attributes + 136
        header = b"PERFILE2" + numbers(8, 104, 136, attributes, 136, begin, len(self.data), 0, 0,
                                       sum(1 << bit for bit in self.FEATURES), 0, 0, 0)
        events = numbers(4, 1, 120) + self.attribute() + numbers(4, len(self.cpus)) + self.text("vpa_dtl/dtl_all/")
        features = (self.text("ppc64le"), events + identities, numbers(4, 1, self.PMU) + self.text("vpa_dtl"))
        at, table = begin + len(self.data) + 16 * len(features), b""
        for feature in features:
            table += numbers(8, at, len(feature))
            at += len(feature)
        return (header + identities + self.attribute() + numbers(8, 104, len(identities)) + bytes(self.data) + table +
                b"".join(features))


def perf_data_of(entries):
    perf = PerfData(sorted({entry["cpu"] for entry in entries}))
    for cpu, run in itertools.groupby(entries, lambda entry: entry["cpu"]):
        perf.add(cpu, b"".join(map(raw_entry, run)))
    return perf.finish()


def numbers(size, *values):
    return b"".join(value.to_bytes(size, "little") for value in values)


class Case:
    def __init__(self, equality, trace, program, command):
        self.equality, self.trace, self.program, self.command = equality, trace, program, command
        self.dice = random.Random(f"{trace.seed} {equality.name} {command}")
        self.selection = []
        if "{selection}" in command:
            self.selection = random_selection(self.dice, self.events)

    @functools.cached_property
    def events(self):
        """All entries, from the recording."""
        return [json.loads(line) for line in self.run("dtl -i {file} --format json").stdout.splitlines()]

    @property
    def selected(self):
        return select(self.selection, self.events)

    def run(self, command):
        words, given = [], {"{selection}": self.selection, "{tasks}": self.trace.tasks, "{file}": [self.trace.file]}
        for word in command.split():
            words += given.get(word, [word])
        result = self.program.run(*words)
        return result._replace(**{name: re.sub(rb"\b(rec|export|own)\.(dtl|data)\b", b"LOG", getattr(result, name))
                                  for name in STREAMS})

STREAMS = ("stdout", "stderr")


def random_selection(dice, entries):
    words = []
    times = sorted(entry["time_ns"] for entry in entries) or [0]
    cpus = sorted({entry["cpu"] for entry in entries}) or [0]
    for option in dice.sample(("--cpu", "--from", "--to"), dice.choice((1, 2, 3))):
        if option == "--cpu":
            words += [option, ",".join(map(str, dice.sample(cpus, min(len(cpus), dice.choice((1, 2, 3))))))]
        else:
            time = dice.choice(times[:len(times) // 2 + 1] if option == "--from" else times[len(times) // 2:])
            words += [option, f"{time // 10**9}.{time % 10**9:09}"]
    return words


def select(words, entries):
    chosen = dict(zip(words[::2], words[1::2]))

    def ns(text):
        seconds, fraction = text.split(".")
        return int(seconds) * 10**9 + int(fraction)

    return [entry for entry in entries
            if ("--cpu" not in chosen or entry["cpu"] in map(int, chosen["--cpu"].split(",")))
            and ("--from" not in chosen or entry["time_ns"] >= ns(chosen["--from"]))
            and ("--to" not in chosen or entry["time_ns"] <= ns(chosen["--to"]))]


def view(prefix):
    """The side that runs the command after this prefix."""
    return lambda case: case.run(f"{prefix} {case.command}")


def by_cpu(side):
    """htmtrace does not sort the entries of different CPUs."""
    def cpu_of(line):
        found = re.match(rb'(?:\[|\{"cpu":)?0*(\d+)', line)
        return int(found[1]) if found else -1

    def sorted_side(case):
        result = side(case)
        lines = result.stdout.splitlines(keepends=True)
        return result._replace(stdout=b"".join(sorted(lines, key=cpu_of)))

    return sorted_side


def of_export(case):
    """The perf.data file that htmtrace writes of the log."""
    case.trace.once("export.data", lambda _: case.run("dtl -i {file} --format perf -o export.data"))
    return view("dtl -i export.data")(case)


def of_perf_data(case):
    """The perf.data file that the test writes of the entries."""
    case.trace.once("own.data", lambda path: path.write_bytes(perf_data_of(case.events)))
    return view("dtl -i own.data")(case)


def expected(make):
    """What the command prints, computed from the entries."""
    def side(case):
        result = case.run("dtl -i {file} --format json")
        return result._replace(command=f"{result.command} | {make.__name__} {case.selection}",
                               stdout=make(case.selected).encode())

    return side


def json_of(entries):
    return "".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries)


def csv_of(entries):
    names = ("cpu", "time_ns", "timebase", "dispatch_reason", "preempt_reason", *(wait + "_time" for wait in WAITS),
             "processor_id", "fault_addr", "srr0", "srr1")
    return "\n".join([",".join(names), *(",".join(str(entry[name]) for name in names) for entry in entries)]) + "\n"


def text_of(entries):
    lines = []
    for entry in entries:
        fields = ", ".join(f"{name}:{entry[name]}" for name in list(entry)[2:])
        seconds, fraction = divmod(entry["time_ns"], 10**9)
        lines.append(f"[{entry['cpu']:03}] {seconds:5}.{fraction:09}: vpa-dtl: {fields}\n")
    return "".join(lines)


def waits_of(entries):
    """cpu, wait, count, sum and maximum."""
    found = collections.defaultdict(list)
    for entry in entries:
        for wait in WAITS:
            for cpu in (entry["cpu"], "all"):
                found[cpu, wait].append(entry[wait + "_time"])
    return "".join(sorted(f"{cpu},{wait},{len(times)},{ns(sum(times))},{ns(max(times))}\n"
                          for (cpu, wait), times in found.items()))


def waits_in(text):
    rows = [line.split(",") for line in text.decode().splitlines()[1:]]
    # A CPU without entries has rows of zeros.
    return "".join(sorted(f"{row[0]},{row[1]},{row[2]},{row[3]},{row[7]}\n" for row in rows if row[2] != "0")).encode()


def ns(ticks):
    return ticks * 10**9 // TICKS_PER_SECOND

INTERVAL_NS = 10**8


def series_of(entries):
    """time, cpu, dispatches, preempted, stolen, longest wait, late."""
    found = collections.defaultdict(list)
    for entry in entries:
        found[entry["time_ns"] // INTERVAL_NS * INTERVAL_NS, entry["cpu"]].append(entry)
    lines = []
    for (time, cpu), each in found.items():
        waits = [entry["enqueue_to_dispatch_time"] for entry in each]
        stolen = [entry["enqueue_to_dispatch_time"] + entry["ready_to_enqueue_time"] for entry in each]
        preempted = sum(entry["preempt_reason"] == "time_slice" for entry in each)
        lines.append(f"{time},{cpu},{len(each)},{preempted},{ns(sum(stolen))},{ns(max(waits))},"
                     f"{sum(ticks > LATE_TICKS for ticks in stolen)}\n")
    return "".join(sorted(lines))


def series_in(text):
    rows = [line.split(",") for line in text.decode().splitlines()[1:]]
    return "".join(sorted(f"{row[0]},{','.join(row[2:8])}\n" for row in rows)).encode()


def parsed(parse, side):
    def parsed_side(case):
        result = side(case)
        return result._replace(stdout=parse(result.stdout))

    return parsed_side


def is_damaged(case):
    """The statistics in a damaged recording may count entries that are damaged. htmtrace-dtl(1), --check."""
    return bool(case.trace.damaged)


def has_no_tasks(case):
    return not case.trace.tasks


def logs(*commands):
    return {"log": list(commands)}

ENTRIES = ("", "--format csv", "--format json")
SUMMARIES = ("--summary --kallsyms /dev/null", "--summary --format csv", "--summary --format json",
             "--summary --top 3 --processor-bits 4,8 --kallsyms /dev/null", "--interval 100ms",
             "--interval 50ms --format csv", "--interval 1s --format json")
SELECTED = ("{selection} --summary --format csv", "{selection} --interval 100ms --format csv",
            "{selection} --summary --kallsyms /dev/null")
CHECKED = "dtl -i {file} --check"

EQUALITIES = [
    Equality("decode and dtl", LOGS, logs(*ENTRIES), view("dtl -i {file}"), view("decode {file}")),
    Equality("report and dtl", LOGS, logs("--kallsyms /dev/null", "--top 3 --kallsyms /dev/null"),
             view("dtl -i {file} --summary {tasks}"), view("report {file}")),
    Equality("exported perf.data", LOGS, logs(*ENTRIES), by_cpu(view("dtl -i {file}")), by_cpu(of_export), STDOUT),
    Equality("summary of exported perf.data", LOGS, logs(*SUMMARIES), view(CHECKED), of_export, STDOUT),
    Equality("dispatches in perf.data", LOGS, logs(*ENTRIES), by_cpu(view("dtl -i {file}")), by_cpu(of_perf_data),
             STDOUT),
    Equality("summary of dispatches in perf.data", LOGS, logs(*SUMMARIES, *SELECTED), view(CHECKED), of_perf_data,
             STDOUT),
    Equality("stored statistics", LOGS, logs(*SUMMARIES, *SELECTED), view("dtl -i {file}"), view(CHECKED), OUTCOME,
             unless=is_damaged),
    Equality("tasks do not change the entries", LOGS, logs("--format csv"), view("dtl -i {file}"),
             lambda case: without_tasks(view("dtl -i {file} --tasks")(case)), WHOLE, unless=has_no_tasks),
    Equality("selected dispatches", LOGS, logs("{selection} --format json"), expected(json_of), view("dtl -i {file}"),
             STDOUT),
    Equality("JSON and CSV of dispatches", LOGS, logs("--format csv", "{selection} --format csv"), expected(csv_of),
             view("dtl -i {file}"), STDOUT),
    Equality("JSON and text of dispatches", LOGS, logs("", "{selection}"), expected(text_of), view("dtl -i {file}"),
             STDOUT),
    Equality("counts of a summary", LOGS, logs("--summary --format csv", "{selection} --summary --format csv"),
             expected(waits_of), parsed(waits_in, view(CHECKED)), STDOUT),
    Equality("counts of a series", LOGS,
             logs("--interval 100ms --format csv", "{selection} --interval 100ms --format csv"), expected(series_of),
             parsed(series_in, view(CHECKED)), STDOUT),
]


def without_tasks(result):
    lines = [b",".join(line.split(b",")[:12]) for line in result.stdout.splitlines()]
    return result._replace(stdout=b"\n".join(lines) + b"\n")
