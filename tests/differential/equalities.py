# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of equalities of core and nest traces: two ways to the same answer. A new equality is one entry of
EQUALITIES. A side is a function that takes a Case and returns a Result; view() makes a side from a way to pass the
trace."""
import dataclasses
import functools
import json
import random
import re
import typing

import counts
import filters
import formats
import runs
import traces

ALL, CORE, NEST = ("core", "nest"), ("core",), ("nest",)
WHOLE = ("status", "stdout", "stderr")

# Each command is the words that precede the path. Both sides of an equality run it.
TEXTS = {"core": ["decode", "decode --stamps --modes", "decode --symbols --kallsyms rec/kallsyms"],
         "nest": ["decode", "decode --stamps", "decode --format htmdecode"]}
JSONS = {kind: ["decode --format json", "decode --format json --stamps", "decode --format csv"] for kind in ALL}
SUMMARIES = {kind: ["decode --summary"] for kind in ALL}
WALKS = {"core": ["decode --walks", "decode --walks --stamps --format json", "decode --walks --summary"], "nest": []}
QTRACES = {"core": ["decode --format qtrace"], "nest": []}
BLOCK_VECTORS = {"core": ["decode --format bbv --interval 500"], "nest": []}
ASSEMBLER = {"core": ["decode --disassemble", "decode --fields ea,asm"], "nest": []}
# --file-order is an error.
ROWS = {kind: ["decode --format avro -o out", "decode --format avro -o out {selection}"] for kind in ALL}
REPORTS = {"core": ["report", "report --format json", "report --address effective --kallsyms rec/kallsyms",
                    "report --blocks --format json", "report --stacks", "report --calls --format json",
                    "report --heat-map --format csv", "report --format callgrind",
                    "report --timeline --format csv", "report --timeline --format perfetto"],
           "nest": ["report", "report --format json", "report --address real", "report --heat-map --format csv"]}
# The first trace of the comparison is the folder.
DIFFS = {kind: ["diff rec"] for kind in ALL}
SELECTED = {kind: ["decode --format json {selection}", "decode --format csv {selection}", "decode {selection}",
                   "decode --stamps {selection}"] for kind in ALL}
SELECTED_REPORTS = {"core": ["report {selection}", "report --blocks {selection}"], "nest": ["report {selection}"]}


def together(*commands):
    return {kind: [words for each in commands for words in each[kind]] for kind in ALL}


PARALLEL = together(TEXTS, JSONS, SUMMARIES, QTRACES, ASSEMBLER, BLOCK_VECTORS, SELECTED, REPORTS, SELECTED_REPORTS)
IN_ORDER = together(TEXTS, JSONS, SUMMARIES, WALKS, QTRACES, BLOCK_VECTORS, SELECTED)
# --core and --translation also apply to the first trace of a comparison.
UNFILTERED = together(ROWS, REPORTS, SELECTED_REPORTS)
EVERYTHING = together(IN_ORDER, UNFILTERED, DIFFS)


class Case:
    """One equality of one trace, with one command. Random choices depend only on the seed."""

    def __init__(self, equality, trace, program, command):
        self.equality, self.trace, self.program = equality, trace, program
        self.dice = random.Random(f"{trace.seed} {trace.kind} {equality.name} {command}")
        self.threads = self.dice.choice((2, 3, 8))
        self.number = self.dice.choice((0, 1, 10, 1000))
        self.piped = self.dice.random() < 0.7
        self.command = command

    @functools.cached_property
    def events(self):
        """The events of the first target, with all stamps."""
        return filters.events_of(self.run(at_file, "decode", "--stamps", "--format", "json").stdout)

    @functools.cached_property
    def selection(self):
        make = filters.random_core_selection if self.trace.kind.type == "core" else filters.random_nest_selection
        pairs = make(self.dice, self.events)
        refuses_last = any(option in self.command for option in ("--format avro", "--blocks", "--stamps"))
        return [pair for pair in pairs if pair[0] != "--last" or not refuses_last]

    @functools.cached_property
    def selected(self):
        select = filters.select_core if self.trace.kind.type == "core" else filters.select_nest
        return select(self.selection, self.events)

    @property
    def words(self):
        words = []
        for word in self.command.split():
            selects = word.startswith("{selection")
            words += [str(part) for pair in self.selection for part in pair] if selects else [word]
        return [word.format(number=self.number) for word in words]

    @property
    def ends_early(self):
        """With --first, the number of bytes that htmtrace reads depends on the file."""
        return "{selection" in self.command and filters.values(self.selection, "--first")

    def run(self, place, *words):
        arguments, source = place(self)
        kind = self.trace.kind
        result = self.program.run(words[0], "--type", kind.type, "--partition", 0, *kind.layout, *words[1:], *arguments,
                                  **source)
        return runs.without_names(result, b"n0.p0.c4" if len(self.trace.targets) == 1 or place in OF_ONE else None)


# ------------------------------------------------------------------- ways to pass the trace: arguments, standard input

def at_file(case):
    return [case.trace.file()], {}


def at_file_in_order(case):
    return ["--file-order", case.trace.file()], {}


def at_pipe(case):
    return map_of(case) + ["-"], {"stdin": case.trace.file(), "piped": case.piped}


def at_packed_pipe(case):
    folder = case.trace.compressed(".zst")
    return map_of(case) + ["-"], {"stdin": case.trace.file(folder, ".zst"), "piped": case.piped}


def map_of(case):
    return ["--translation", f"rec/translation.{case.trace.targets[0].suffix}"]


def at_zstd_file(case):
    return [case.trace.file(case.trace.compressed(".zst"), ".zst")], {}


def at_gzip_file(case):
    return [case.trace.file(case.trace.compressed(".gz"), ".gz")], {}


def at_folder(case):
    return ["rec"], {}


def at_zstd_folder(case):
    return [case.trace.compressed(".zst")], {}


def at_stream(case):
    return [case.trace.stream()], {}


def at_stream_pipe(case):
    return ["-"], {"stdin": case.trace.stream(), "piped": case.piped}


def at_perf_data(case):
    return [case.trace.perf_data()], {}


def at_first_target(case):
    return ["--core", "4", "rec"], {}


def at_wrapped_dump(case):
    """The dump of the same trace, when the trace memory has wrapped over the begin of the trace."""
    def write(path):
        case.trace.write_folder(path.name, lambda data: traces.wrapped(data[traces.LINE:], len(data) // 16 * 8))

    return [case.trace.file(case.trace.once("rec.wrapped", write))], {}


def at_ended_file(case):
    """The trace without its begin, with a COMPLETE stamp at its end, in the order of time."""
    def write(path):
        case.trace.write_folder(path.name, lambda data: traces.ended(data[traces.LINE:]))

    return ["--file-order", case.trace.file(case.trace.once("rec.ended", write))], {}


def at_indexed_file(case):
    """A copy with an index that has many restart points."""
    def write(path):
        case.trace.write_folder(path.name, lambda data: data)
        interval = random.Random(f"{case.trace.seed} index").choice(("4K", "16K", "64K"))
        case.program.run("index", "--type", case.trace.kind.type, *case.trace.kind.layout, "--interval", interval,
                         case.trace.file(path.name))

    return [case.trace.file(case.trace.once("rec.indexed", write))], {}


OF_ONE = (at_file, at_file_in_order, at_pipe, at_packed_pipe, at_zstd_file, at_gzip_file, at_first_target,
          at_indexed_file, at_wrapped_dump, at_ended_file)


def view(place, *words):
    """The side that runs the command on the trace at this place. `words` follow the command."""
    return lambda case: case.run(place, *case.words, *[word.format(threads=case.threads) for word in words])


# ---------------------------------------------------------------------------- sides that compute the expected result

def whole(case, *words):
    return case.run(at_file, *words)


def filtered(case):
    """The JSON of the whole trace, with the selected events."""
    result = whole(case, "decode", "--stamps", "--format", "json")
    return result._replace(command=f"{result.command} | select {case.selection}",
                           stdout=filters.lines_of(case.selected))


def counted(case):
    """The number of the selected instructions or commands."""
    result = whole(case, "decode", "--stamps", "--format", "json")
    return result._replace(command=f"{result.command} | select {case.selection} | wc -l",
                           stdout=b"%d" % sum(event["type"] in ("instruction", "command") for event in case.selected))


def count_selected(case):
    """The number of selected events in the statistics."""
    result = view(at_file)(case)
    found = re.search(rb"(?:instructions|commands) selected +(\d+)", result.stdout)
    return result._replace(stdout=found[1] if found else b"no number")


def converted(convert):
    """The JSON of the whole trace, in another format."""
    def side(case):
        result = whole(case, "decode", "--stamps", "--format", "json")
        return result._replace(command=f"{result.command} | {convert.__name__}",
                               stdout=convert(case.trace.kind.type, case.events))

    return side


def statistics_beside_events(case):
    """The statistics on standard error."""
    result = view(at_file)(case)
    lines = result.stderr.splitlines(keepends=True)
    return result._replace(stdout=b"".join(line for line in lines if not line.startswith(b"htmtrace: ")), stderr=b"")


def statistics_alone(case):
    return whole(case, "decode", "--summary")._replace(stderr=b"")


def counts_of_events(case):
    result = whole(case, "decode", "--stamps", "--format", "json")
    selects = "{selection" in case.command
    return result._replace(command=f"{result.command} | select {case.selection if selects else []} | count",
                           stdout=counts.of_events(case.trace.kind.type, case.selected if selects else case.events))


def counts_of_report(case):
    result = view(at_file)(case)
    return result._replace(stdout=counts.of_report(case.trace.kind.type, result.stdout))


def limited(case):
    """The first instructions or commands of the whole trace."""
    result = whole(case, "decode", "--stamps", "--format", "json")
    events = [event for event in case.events if event["type"] == "instruction"]
    return result._replace(command=f"{result.command} | head -n {case.number}",
                           stdout=filters.lines_of(events[:case.number]))


def tables(side):
    """A report in JSON without the counts of the part that htmtrace read. htmtrace-index(1), USE OF THE INDEX."""
    def tables_of(case):
        result = side(case)
        report = json.loads(result.stdout or b"{}")
        kept = {name: value for name, value in report.items() if name not in ("decoded", "walks", "layout")}
        return result._replace(stdout=json.dumps(kept, indent=1).encode())

    return tables_of


# ------------------------------------------------------------------------------------------------------------ the table

def never(_):
    return False


def has_wrapped(case):
    return b"had wrapped" in whole(case, "decode", "--summary").stderr


def cannot_pipe(case):
    """One stream of two engines is merged only within 256 KiB. htmtrace-decode(1), NEST TRACES and --first."""
    return case.trace.kind.type == "nest" and (len(case.trace.targets[0].trace) >= 256 << 10 or case.ends_early)


def has_unknown_layout(case):
    return b"layout of TRACE is unknown" in whole(case, "decode", "--stamps", "--format", "json").stderr


def is_not_found_as_wrapped(case):
    """The trace has other COMPLETE stamps, or begins with a RECORD stamp in its middle."""
    return b"had wrapped" not in case.run(at_wrapped_dump, "decode", "--summary").stderr


def cannot_pipe_out_of_order(case):
    return has_wrapped(case) or cannot_pipe(case)


def cannot_perf(case):
    """The kernel delivers whole words of the trace and whole blocks of the map, and perf keeps no empty trace."""
    return "map" in case.trace.damaged or any(len(target.trace) % 8 or not target.trace
                                              for target in case.trace.targets)


@dataclasses.dataclass
class Equality:
    name: str
    kinds: tuple
    commands: dict
    left: typing.Callable
    right: typing.Callable
    parts: tuple = WHOLE
    unless: typing.Callable = never


def each(*commands):
    return {kind: list(commands) for kind in ALL}


def several(command):
    """The random selection differs from command to command."""
    return each(*(command.replace("{selection}", f"{{selection{number}}}") for number in range(6)))


STDOUT = ("stdout",)
OUTCOME = ("status", "stdout")

EQUALITIES = [
    Equality("threads", CORE, PARALLEL, view(at_file, "-j", "1"), view(at_file, "-j", "{threads}")),
    Equality("threads of a nest trace", NEST, IN_ORDER, view(at_file, "-j", "1"), view(at_file, "-j", "{threads}")),
    Equality("threads of a pipe", CORE, PARALLEL, view(at_pipe, "-j", "1"), view(at_pipe, "-j", "{threads}")),
    Equality("threads of a compressed trace", CORE, PARALLEL, view(at_zstd_file, "-j", "1"),
             view(at_zstd_file, "-j", "{threads}")),
    Equality("threads of a perf.data file", CORE, PARALLEL, view(at_perf_data, "-j", "1"),
             view(at_perf_data, "-j", "{threads}"), unless=cannot_perf),
    Equality("pipe", ALL, IN_ORDER, view(at_file_in_order), view(at_pipe), unless=cannot_pipe),
    Equality("report and rows of a pipe", ALL, UNFILTERED, view(at_file), view(at_pipe),
             unless=cannot_pipe_out_of_order),
    Equality("compressed pipe", ALL, EVERYTHING, view(at_pipe), view(at_packed_pipe)),
    Equality("zstd", ALL, EVERYTHING, view(at_file), view(at_zstd_file)),
    Equality("gzip", ALL, EVERYTHING, view(at_file), view(at_gzip_file)),
    Equality("zstd folder", ALL, EVERYTHING, view(at_folder), view(at_zstd_folder)),
    Equality("stream", ALL, EVERYTHING, view(at_folder), view(at_stream)),
    Equality("stream on standard input", ALL, EVERYTHING, view(at_stream), view(at_stream_pipe)),
    Equality("perf.data", ALL, EVERYTHING, view(at_folder), view(at_perf_data), unless=cannot_perf),
    Equality("one target of a folder", ALL, together(IN_ORDER, UNFILTERED), view(at_file), view(at_first_target)),
    Equality("index", ALL, together(SELECTED, several("decode --format json {selection}")), view(at_file),
             view(at_indexed_file), STDOUT),
    Equality("index, report", ALL, several("report --format json {selection}"), tables(view(at_file)),
             tables(view(at_indexed_file)), STDOUT),
    Equality("wrapped dump", CORE, IN_ORDER, view(at_ended_file), view(at_wrapped_dump), OUTCOME,
             unless=is_not_found_as_wrapped),
    Equality("limit", CORE, each("decode --format json --limit {number}"), limited, view(at_file), STDOUT),
    Equality("selection", ALL, several("decode --format json {selection}"), filtered, view(at_file), STDOUT),
    Equality("number of the selected events", ALL, several("decode --summary {selection}"), counted, count_selected,
             STDOUT, unless=has_unknown_layout),
    Equality("JSON and CSV", ALL, each("decode --format csv"), converted(formats.csv_of), view(at_file), OUTCOME),
    Equality("JSON and text", ALL, {"core": ["decode --stamps --modes"], "nest": ["decode --stamps"]},
             converted(formats.text_of), view(at_file), OUTCOME),
    Equality("JSON and plain text", ALL, each("decode"), converted(formats.plain_text_of), view(at_file), OUTCOME),
    Equality("statistics", ALL, each("decode", "decode --format json", "decode --format csv"),
             statistics_beside_events, statistics_alone),
    Equality("counts of a report", ALL, each("report --format json", "report --format json {selection}"),
             counts_of_events, counts_of_report, STDOUT, unless=has_unknown_layout),
]
