#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_tutorial.py PAGE GUEST FOLDER: compare the examples of a man page with what the commands print.
check_tutorial.py PAGE --script: print the example that is a script.

A line of an example that starts with "$ " is a command: it runs in FOLDER, and the lines that follow must be
its output. "..." stands for lines, or for the rest of a
line, that the page leaves out. Numbers and spaces may differ, words may not. A
line that starts with "# " is a command that the script GUEST must contain, because it needs the machine. If output
follows, it must be in the file FOLDER/output.LAST, where LAST is the last word of the command. The guest runs the
script as it is printed.
With --print, print each command and its output instead."""
import pathlib
import re
import subprocess
import sys


def examples(page):
    """Yield the examples of the page, each a list of lines without roff's escapes."""
    for block in re.findall(r"^\.EX\n(.*?)^\.EE$", page, re.MULTILINE | re.DOTALL):
        text = re.sub(r"^\\&", "", block, flags=re.MULTILINE).replace(r"\-", "-").replace(r"\e", "\\")
        yield re.sub(r"\\\n\s*", "", text).splitlines()


def shape(line):
    """The line without what differs from run to run."""
    line = re.sub(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{8,}\b|\d+(?:\.\d+)?", "N", line)
    # Functions with nearly the same count change places.
    line = re.sub(r"\w+\(N\)(?: \w+\(N\))+", lambda names: " ".join(sorted(names[0].split())), line)
    return " ".join(line.split())


def matches(expected, actual):
    """Whether the lines are the expected ones; "..." matches any number of lines, or the end of a line."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    if not actual:
        return False
    wanted, found = shape(expected[0]), shape(actual[0])
    same = found.startswith(wanted[:-3].strip()) if wanted.endswith(" ...") else found == wanted
    return same and matches(expected[1:], actual[1:])


def print_script(page):
    """Print the only example that is a script."""
    script, = (example for example in examples(page) if example[0].startswith("#!"))
    print("\n".join(script))


def main():
    if sys.argv[2] == "--script":
        return print_script(pathlib.Path(sys.argv[1]).read_text())
    page, guest, folder = sys.argv[1:4]
    script = re.sub(r"\\\n\s*", "", pathlib.Path(guest).read_text())
    compared = wrong = 0
    for example in examples(pathlib.Path(page).read_text()):
        while example and not example[0].startswith("#!"):
            command, length = example[0], 1
            while length < len(example) and not re.match(r"[$#] ", example[length]):
                length += 1
            expected, example = example[1:length], example[length:]
            compared += 1
            if command.startswith("# "):
                if command[2:] not in script:
                    wrong += 1
                    print(f"the guest does not run: {command[2:]}")
                output = pathlib.Path(folder, "output." + command.split()[-1])
                if expected and not matches(expected, output.read_text().splitlines()):
                    wrong += 1
                    print(f"{command}\nthe page shows:", *expected, "the command prints:", output.read_text(), sep="\n")
                continue
            run = subprocess.run(["bash", "-c", command[2:]], cwd=folder, text=True, check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if "--print" in sys.argv:
                print(f"{command}\n{run.stdout}")
            elif not matches(expected, run.stdout.splitlines()):
                wrong += 1
                print(f"{command}\nthe page shows:", *expected, "the command prints:", run.stdout, sep="\n")
    print(f"{compared} commands, {wrong} wrong")
    return wrong != 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main())
