# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # the sourcing script uses these names
# Shared parts of the command line tests: cases, each in an empty folder, and traces of a few words. A failure
# prints command, files, stdout and stderr. Source this file with the program's path in $htmtrace.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
number=0

begin() { # NAME
    name=$1
    number=$((number + 1))
    mkdir "$work/$number"
    cd "$work/$number" || exit 1
}

run() { # ARGUMENT...; passes standard input on
    command=("$htmtrace" "$@")
    "${command[@]}" >"$work/stdout" 2>"$work/stderr"
    status=$?
}

fail() { # WHY
    failures=$((failures + 1))
    echo "not ok - $name: $1"
    echo "  command: ${command[*]}"
    echo "  status: $status"
    find . -mindepth 1 | sort | sed 's/^/  file: /'
    head -n 60 "$work/stdout" | sed 's/^/  stdout: /'
    sed 's/^/  stderr: /' "$work/stderr"
}

# Checks that status is STATUS, and that stdout or stderr contains each of the texts.
expect() { # STATUS TEXT...
    local wanted=$1 text
    shift
    [[ $status == "$wanted" ]] || { fail "expected status $wanted" && return; }
    for text in "$@"; do
        grep -qF -- "$text" "$work/stdout" "$work/stderr" || { fail "missing in the output: $text" && return; }
    done
    echo "ok - $name"
}

# Checks that status is STATUS, that stdout has LINES lines, and that stderr contains each of the texts.
expect_lines() { # STATUS LINES TEXT...
    local wanted=$1 lines=$2 text
    shift 2
    [[ $status == "$wanted" ]] || { fail "expected status $wanted" && return; }
    [[ $(wc -l <"$work/stdout") == "$lines" ]] || { fail "expected $lines lines on stdout" && return; }
    for text in "$@"; do
        grep -qF -- "$text" "$work/stderr" || { fail "missing on stderr: $text" && return; }
    done
    echo "ok - $name"
}

# Prints the last line and exits with the status.
end() {
    echo "$number cases, $failures failures"
    exit $((failures != 0))
}

words() { # HEX...
    local word i
    for word in "$@"; do
        printf -v word %16s "$word"
        word=${word// /0}
        for ((i = 0; i < 16; i += 2)); do printf '%b' "\\x${word:i:2}"; done
    done
}

# The published test vector: an IEARA and one instruction.
one_instruction() {
    words 000000003abcdf00 c000000000ed8d80 0000000ed8000000 7c3f48402abcdf34 b8c0000000000000
}
one_line='ea=c000000000ed8db4 op=7c3f4840 ra=0000000000ed8db4 la=----------------'

# A POWER9 bus trace. The line of engine 0 has a stamp. The line of engine 1 has a stamp, two commands, and a
# record of two responses without commands. The second command carries a response.
bus_trace() {
    words 3ffe123456780000 aceff00000000000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \
        3ffe123456789000 aceff00000000000 8a10a062468acf13 53aa010140000000 \
        8a10a062468acf13 53aa0101611554c0 6402474000000000 e0c7f20240000000
}
bus_map() {
    words 0000000000000000 0000000000000000 0000000000000001 0000000000000000 \
        8000123400000000 0000000010000000 0000000000000000 0000000100000000
}

number_le() { # BYTES NUMBER
    local i
    for ((i = 0; i < $1; i++)); do printf '%b' "\\x$(printf %02x $(($2 >> 8 * i & 255)))"; done
}
# Prints a frame of a stream, htmtrace-stream(5).
frame() { # KIND TARGET POSITION, the bytes on standard input
    cat >"$work/frame"
    printf HTMF
    number_le 2 "$1"
    number_le 2 "$2"
    number_le 4 1
    number_le 4 0
    number_le 8 "$3"
    number_le 8 "$(wc -c <"$work/frame")"
    cat "$work/frame"
}
