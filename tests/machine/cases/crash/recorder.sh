# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Functions of the guest scripts of the tests crash, crash-disk and crash-system. The folder $results/KIND-NUMBER receives
# the files of a recording, the recorder's status and messages, and the hypervisor's facts.
# $length is the duration, or a program.
target="--chip 1 --core 4 --cpu 0" length="--duration 60ms"
results=/tmp/crash
mkdir -p $results

now_ms() {
    awk '{ printf "%d", $1 * 1000 }' /proc/uptime
}

# moment ROUND ROUNDS: sleep until a random time in the ROUND-th part of a recording's duration.
moment() {
    part_us=$((whole_ms * 1000 / $2))
    usleep $((part_us * ($1 - 1) + $(od -An -N2 -tu2 /dev/urandom) * part_us / 65536))
}

starts() {
    hypervisor 'starts 2 0 1 4'
}

# keep NAME FOLDER STATUS: keep the files of a recording. `starts` is the number of STARTs of the core, including this
# recording's; no file if the recording did not start the core.
keep() {
    mkdir "$results/$1"
    cp "$2"/* "$results/$1/" 2>/dev/null
    echo "$3" >"$results/$1/status"
    [ ! -e /tmp/words ] || mv /tmp/words "$results/$1/words"
    started=$(starts)
    [ "$started" = "$before" ] || echo "$started" >"$results/$1/session"
    hypervisor configured >"$results/$1/configured"
    before=$started
}

# recording FOLDER [OPTION]...: become a recorder of $target for $length. The instructions of an idle processor suffice.
recording() {
    folder=$1
    shift
    rm -rf "$folder"
    # shellcheck disable=SC2086
    exec htmtrace record $target "$@" -o "$folder" $length 2>/tmp/words
}

# wholes: make three recordings that nothing disturbs. whole_ms becomes the duration of the last one, and trace_kib the
# size of its trace. The first recordings are slow, because the emulator translates the code again.
wholes() {
    for round in 1 2 3; do
        began=$(now_ms)
        (recording /tmp/whole)
        status=$?
        whole_ms=$(($(now_ms) - began))
        keep whole-$round /tmp/whole $status
    done
    trace_kib=$(du -k /tmp/whole/htm.bin.n0.p1.c4 | cut -f1)
    echo "# a recording takes $whole_ms ms and gives $trace_kib KiB"
}

before=$(starts)
