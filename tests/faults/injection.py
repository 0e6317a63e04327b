# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program once, with the fault that the library of faults.c injects, and compares what the run leaves with a
run without a fault."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import typing

# The order of `enum kind` in faults.c.
KINDS = ("open", "read", "write", "fsync", "rename", "close", "ftruncate", "fallocate", "mmap", "malloc", "thread",
         "mkdir", "stat", "unlink")
COUNTS_BYTES = 8 * (len(KINDS) + 1)
# A run takes milliseconds. A sanitized run on a busy machine takes seconds.
PATIENCE_SECONDS = 60


class Fault(typing.NamedTuple):
    kind: str
    number: int  # the first failing call, counted from 1
    errno: int  # 0: the call transfers only half of the bytes
    forever: bool = False  # all later calls fail, too

    def environment(self):
        chosen = {"FAULTS_KIND": self.kind, "FAULTS_NUMBER": str(self.number), "FAULTS_ERRNO": str(self.errno)}
        return chosen | ({"FAULTS_FOREVER": "1"} if self.forever else {})

    def __str__(self):
        reason = os.strerror(self.errno) if self.errno else "half of the bytes"
        return f"{self.kind} {self.number}{' and all later' if self.forever else ''}: {reason}"


class Result(typing.NamedTuple):
    status: int  # negative: the signal that ended the program; None: it did not end
    stdout: bytes
    stderr: str
    files: dict  # content of each file that is in the folder after the run
    temporary: list  # names that are left in TMPDIR
    calls: dict  # number of calls of each kind
    injected: int


class Place:
    """The folder of one run after the other. Several places can be used at the same time."""

    def __init__(self, folder, inputs, library):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.inputs = inputs
        self.library = library
        self.work = self.folder / "work"
        self.temporary = self.folder / "temporary"
        self.registry = self.folder / "registry"
        self.counts = self.folder / "counts"
        # A job names its inputs in/NAME.
        (self.folder / "in").symlink_to(inputs)

    def environment(self):
        # The library is ahead of AddressSanitizer. Memory that is lost after a fault is no defect, because the
        # program ends, and looking for leaks takes longer than the run.
        return os.environ | {
            "LD_PRELOAD": self.library, "FAULTS_COUNTS": str(self.counts), "TMPDIR": str(self.temporary),
            "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0:allocator_may_return_null=1", "LC_ALL": "C"}

    def run(self, program, job, fault=None, stack=False):
        for folder in (self.work, self.temporary, self.registry):
            shutil.rmtree(folder, ignore_errors=True)
        self.work.mkdir()
        self.temporary.mkdir()
        self.counts.write_bytes(bytes(COUNTS_BYTES))
        for source, name in job.copies:
            target = self.work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            # With its time, because an index holds the time of its trace.
            shutil.copy2(self.inputs / source, target)
        environment = self.environment() | (fault.environment() if fault else {})
        if stack:
            environment["FAULTS_STACK"] = "1"
        if job.remembered:
            self.registry.mkdir(0o700)
            (self.registry / "cores").write_text(job.remembered)
        if job.records:
            environment |= {"FAULTS_PMU": str(self.inputs / "pmu"), "FAULTS_REGISTRY": str(self.registry)}
        with open(self.folder / "stdin", "wb") as file:
            file.write((self.inputs / job.stdin).read_bytes() if job.stdin else b"")
        with open(self.folder / "stdin", "rb") as stdin:
            try:
                done = subprocess.run([program, *job.arguments], cwd=self.work, env=environment, stdin=stdin,
                                      capture_output=True, timeout=PATIENCE_SECONDS, check=False)
                status, stdout, stderr = done.returncode, done.stdout, done.stderr
            except subprocess.TimeoutExpired as late:
                status, stdout, stderr = None, late.stdout or b"", late.stderr or b""
        numbers = struct.unpack(f"={len(KINDS) + 1}Q", self.counts.read_bytes())
        return Result(status, stdout, stderr.decode(errors="replace"), tree(self.work),
                      sorted(os.listdir(self.temporary)), dict(zip(KINDS, numbers)), numbers[-1])


def tree(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = b"link to " + os.fsencode(os.readlink(path))
        elif path.is_file():
            found[name] = without_chance(path.name, path.read_bytes())
    return found


def without_chance(name, content):
    """Replaces what differs from run to run."""
    if name == "manifest.json":
        # The size of the rings is chosen by what can be mapped.
        return re.sub(rb'"(\w+_ns|\w+_ring_bytes|stored_bytes|pid|cpu|carrier_cpu)": \d+', rb'"\1": 0', content)
    if name.startswith("htm.bin.") and name.endswith(".zst"):
        # The table of all frames at the end is optional (zstd's seekable format).
        return content.partition(b"\x5e\x2a\x4d\x18")[0]
    return content


def lacks_only_facts(name, content, result):
    """Returns whether the manifest differs only in unknown facts about the machine, and a warning states that facts may
    be unknown."""
    if os.path.basename(name) != "manifest.json" or "facts about this machine may be unknown" not in result.stderr:
        return False
    found = result.files.get(name, b"")
    for fact in (b"kernel_build_id", b"processor", b"pvr", b"timebase_hz", b"partition_id"):
        if b'"%s": null' % fact in found:
            content = re.sub(rb'"%s": [^,\n]*' % fact, b'"%s": null' % fact, content)
    return found == content


def wrong_ready_file(job, fault, result):
    """The file of --ready-file states that tracing has begun. A failure that ends the recording later removes it, as
    the end does. It may stay only if it cannot be removed, which a message states, or if the lack of memory ended the
    program at once. It never exists without the manifest, which appears when tracing begins."""
    if not result.files[job.ready].strip().isdigit():
        yield "the ready file has no process ID"
    if not any(os.path.basename(name) == "manifest.json" for name in result.files):
        yield "the ready file states that tracing has begun, but it has not"
    if f"warning: cannot remove {job.ready}: " in result.stderr:
        return
    if fault and fault.kind == "malloc" and "htmtrace: out of memory" in result.stderr:
        return
    yield "the ready file stays without a message"


def wrong_files(job, fault, result, fine, partial_outputs):
    """Files that are neither as ahead of the run nor as after a run without a fault."""
    partial_outputs |= job.records
    for name, content in result.files.items():
        if content in (job.before.get(name), fine.files.get(name)):
            continue
        if name == job.ready:
            yield from wrong_ready_file(job, fault, result)
            continue
        if name not in job.before and name not in fine.files:
            yield "leaves a file of another name"
        elif not partial_outputs:
            yield f"{name} is neither old nor whole"
    appeared = [name in result.files for name in fine.files if name not in job.before]
    if result.status == job.failed and not job.records and not job.one_by_one and any(appeared) and not all(appeared):
        yield "only some of the outputs appear"
    if job.records or not partial_outputs:
        yield from (f"{name} is lost" for name in job.before if name not in result.files)
    if result.temporary and not (fault and fault.kind == "unlink"):
        yield "leaves a temporary file"


def wrong_manifests(result, fine):
    """A recording that says that it is complete has all files of a run without a fault."""
    for name, content in result.files.items():
        folder, base = os.path.split(name)
        if base != "manifest.json":
            continue
        try:
            state = json.loads(content)["state"]
        except ValueError:
            yield f"{name} is not JSON"
            continue
        if state != "complete":
            continue
        for other, bytes_of_other in fine.files.items():
            if os.path.dirname(other) == folder and other != name and result.files.get(other) != bytes_of_other:
                yield f"{name} says that the recording is complete, but {other} is not"


def wrong_message(job, fault, result):
    lines = result.stderr.splitlines()
    errors = [line for line in lines if line.startswith("htmtrace: ")]
    if not errors:
        yield "no message"
        return
    if fault.kind == "malloc":
        # The second text is that of a system call that allocates.
        if not any(text in line for line in errors for text in ("out of memory", os.strerror(fault.errno))):
            yield "the message does not say: out of memory"
    elif fault.errno and not job.falls_back and not any(os.strerror(fault.errno) in line for line in errors):
        yield f"the message does not give the reason: {os.strerror(fault.errno)}"


# Texts of a crash or of a programming error, whatever the status is.
CRASHES = ("internal error", "terminate called", "Sanitizer", "runtime error:")


def wrongs(job, fault, result, fine, partial_outputs=False):
    """Everything that is wrong with the run, as texts. With `partial_outputs`, a failed run may leave a part of an
    output."""
    if result.status is None:
        yield f"does not end within {PATIENCE_SECONDS} s"
    elif result.status < 0:
        yield f"ended by signal {-result.status}"
    for text in CRASHES:
        if text in result.stderr:
            yield f"stderr: {text}"
    if result.status == fine.status:
        if job.prints and result.stdout != fine.stdout:
            yield "standard output differs without a failure"
        for name, content in fine.files.items():
            if result.files.get(name) != content and not lacks_only_facts(name, content, result):
                yield f"{name} differs without a failure"
    elif result.status == 3:
        # Something is missing in the output, and a message states what and why.
        yield from wrong_message(job, fault, result)
        partial_outputs = True
    elif result.status == job.failed:
        yield from wrong_message(job, fault, result)
    elif result.status is not None and result.status >= 0:
        yield f"status {result.status}, not {job.failed}"
    if job.records and fault:
        yield from wrong_manifests(result, fine)
    yield from wrong_files(job, fault, result, fine, partial_outputs)
