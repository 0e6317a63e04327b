# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs htmtrace, and names what a run yields. Runs of the same trace are comparable, whatever file holds it."""
import pathlib
import re
import shlex
import shutil
import subprocess
import typing

PATIENCE_SECONDS = 120

# The traces of a folder, a stream, a perf.data file and standard input have other names in the output.
NAMES = re.compile(rb"\brec\b(?:\.(?:data|stream|zst|gz|indexed|wrapped|ended)\b)?"
                   rb"(?:/(?:htm\.bin|translation)\.[a-z0-9.]+)?|standard input")
TARGETS = re.compile(rb'"?(?:node=0,chip=0,core=(\d+)(?:,type=\w+)? )?file=(?:TRACE|-)"?')


class Result(typing.NamedTuple):
    command: str
    status: int  # negative: the signal that ended the program; None: it did not end
    stdout: bytes
    stderr: bytes


class Program:
    """Runs the program in the folder of a trace. Remembers the results, because several equalities use them."""

    def __init__(self, path, folder):
        self.path, self.folder = str(pathlib.Path(path).resolve()), folder
        self.results = {}
        self.runs = 0

    def run(self, *arguments, stdin=None, piped=False):
        """`stdin` is a file; with `piped`, it arrives through a pipe. If the program makes the folder `out`, its files
        count as standard output."""
        arguments = tuple(str(argument) for argument in arguments)
        key = arguments, stdin, piped
        if key not in self.results:
            self.results[key] = self.start(arguments, stdin, piped)
        return self.results[key]

    def start(self, arguments, stdin, piped):
        self.runs += 1
        shown = "htmtrace " + shlex.join(arguments)
        if stdin:
            shown = f"cat {stdin} | {shown}" if piped else f"{shown} <{stdin}"
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        with open(self.folder / stdin if stdin else "/dev/null", "rb") as source:
            given = {"input": source.read()} if piped else {"stdin": source}
            try:
                done = subprocess.run([self.path, *arguments], cwd=self.folder, capture_output=True, check=False,
                                      timeout=PATIENCE_SECONDS, **given)
                status, stdout, stderr = done.returncode, done.stdout, done.stderr
            except subprocess.TimeoutExpired as late:
                status, stdout, stderr = None, late.stdout or b"", late.stderr or b""
        for path in sorted((self.folder / "out").rglob("*")):
            stdout += path.read_bytes() if path.is_file() else b""
        return Result(shown, status, stdout, stderr)


def without_names(result, name):
    """Replaces the names of a trace's files. `name` is that of a target in a recording."""
    def replaced(text):
        text = NAMES.sub(b"TRACE", text).replace(b"the map of TRACE", b"TRACE")
        text = re.sub(rb'"target":"[^"]*"', b'"target":"%s"' % name if name else rb"\g<0>", text)
        text = re.sub(rb"(?m)^(?:-|TRACE),(?=\d)", b"%s," % name, text) if name else text
        # The nest report's heading, those of `diff`, and warnings.
        text = re.sub(rb"(?m)^((?:before|after|htmtrace:) +)-(?=:)", rb"\1TRACE", text)
        text = re.sub(rb"(?m)^from +(?:-|n0\.p0\.c4)$", b"from TRACE", text)
        text = re.sub(rb'"trace": "[^"]*"', b'"trace": "TRACE"', text)
        text = re.sub(rb"(?m)(^htmtrace: .*?)(?<= )-(?= |$)", rb"\1TRACE", text)
        text = TARGETS.sub(b"TARGET" if name else rb"TARGET \1", text)
        return re.sub(rb"(?m)^(TRACE|-)$", b"TRACE", text)

    return result._replace(stdout=replaced(result.stdout), stderr=replaced(result.stderr))


def first_difference(left, right):
    """The first line that differs, with its number."""
    ours, theirs = left.splitlines(), right.splitlines()
    for number, (one, other) in enumerate(zip(ours, theirs), 1):
        if one != other:
            return f"line {number}\n    {printable(one)}\n    {printable(other)}"
    longer, which = (ours, "left") if len(ours) > len(theirs) else (theirs, "right")
    at = min(len(ours), len(theirs))
    if at == len(longer):
        return "only the last line end"
    return f"{len(ours)} and {len(theirs)} lines; line {at + 1} is only on the {which}\n    {printable(longer[at])}"


def printable(line):
    return line.decode(errors="backslashreplace")[:400]


CRASHES = (b"internal error", b"terminate called", b"Sanitizer", b"runtime error:")


def crashed(result):
    return result.status is None or result.status < 0 or any(text in result.stderr for text in CRASHES)
