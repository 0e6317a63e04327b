#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dtl.sh BUILD_DIR [ENTRIES]: how much CPU time it takes to empty the rings of 656 CPUs as `htmtrace dtl`
# does it (copy), to collect what is in them for each CPU (take) and to pack it (pack), and beside it a loop
# that does nothing but copy the same rings, to memory (bare) and to a file in memory, too (write); what each
# of these includes is described in tests/generator/drain_dispatch_rings.cpp. How fast `htmtrace dtl --input` turns
# a recording of the dispatch trace log (default 10 million entries of 8 virtual processors) into text and
# into a summary on one core, with how much memory, and how many bytes an entry takes in the file. BUILD_DIR
# is a release build with tests.
#
# Each number is the best of three runs pinned to one core. Beside it stands what the same core needs
# merely to copy the same text (`cat`), measured in this run. The raw numbers are left in
# BUILD_DIR/benchmark/dtl.log.
#
# Emptying the rings waits for memory: they are too large for the processor's own caches. What else it does
# overlaps with that where possible, so `copy` follows `bare` up and down with the machine. Seen on two
# virtual processors of a busy Xeon (Sapphire Rapids, 2 MiB L2, rings of 4 KiB pages), both by turns in one
# process, the lower quartile: bare 0.09, copy 0.11 to 0.12 CPU seconds for each GB.
set -euo pipefail
build=$(realpath "${1:?usage: dtl.sh BUILD_DIR [ENTRIES]}")
entries=${2:-10000000}
htmtrace=$build/cli/htmtrace
folder=$build/benchmark
log=$folder/dtl.log
core=$(($(nproc) - 1))
# shellcheck source=benchmarks/needs.sh
. "$(dirname "$0")/needs.sh"
needs cli/htmtrace tests/generator/drain_dispatch_rings tests/generator/make_dispatch_log
mkdir -p "$folder"
trap 'rm -f "$folder"/{log.dtl,text,time}' EXIT

say() { echo "$*" | tee -a "$log"; }

# best NAME COMMAND...: CPU seconds and peak KiB of the fastest of three runs, into best_cpu, best_kib.
best() {
    local name=$1 cpu kib user system
    shift
    best_cpu=''
    for _ in 1 2 3; do
        /usr/bin/time -o "$folder/time" -f '%U %S %M' taskset -c "$core" "$@"
        read -r user system kib <"$folder/time"
        cpu=$(awk "BEGIN { print $user + $system }")
        echo "$name: cpu $cpu s peak $kib KiB" >>"$log"
        if [[ -z $best_cpu ]] || awk "BEGIN { exit !($cpu < $best_cpu) }"; then
            best_cpu=$cpu best_kib=$kib
        fi
    done
}

# An operation of less than a tick of the CPU clock may have taken a whole tick.
rate() { # SECONDS
    awk -v seconds="$1" -v entries="$written" 'BEGIN {
        if (seconds < 0.01) printf "at least "
        printf "%.1f M entries/s", entries / (seconds < 0.01 ? 0.01 : seconds) / 1e6
    }'
}

to_null() {
    "$@" >/dev/null 2>&1
}
export -f to_null

say "# $(date -u +%FT%TZ) $(uname -m) $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-) load $(cut -d' ' -f1 /proc/loadavg)"
for what in bare write copy take pack; do
    say "drain, $what: $("$build/tests/generator/drain_dispatch_rings" 656 1000 $what)"
done
"$build/tests/generator/make_dispatch_log" "$entries" 8 "$folder/log.dtl"
written=$("$htmtrace" dtl --input "$folder/log.dtl" 2>/dev/null | tee "$folder/text" | wc -l)
bytes=$(stat -c %s "$folder/log.dtl")
say "$written entries, $bytes bytes: $(awk "BEGIN { printf \"%.2f\", $bytes / $written }") bytes an entry (48 in the log)"
# Cuts the first and the last tenth, so that the groups there must be unpacked.
moments() { # LINE: of the text
    sed -n "$1s/^[^ ]* *\([0-9.]*\):.*/\1/p" "$folder/text"
}
from=$(moments $((written / 10))) to=$(moments $((written - written / 10)))
best summary bash -c 'to_null "$@"' - "$htmtrace" dtl --input "$folder/log.dtl" --summary
say "summary of the whole recording, from its blocks of statistics: $(rate "$best_cpu"), peak $((best_kib / 1024)) MiB"
best slice bash -c 'to_null "$@"' - "$htmtrace" dtl --input "$folder/log.dtl" --summary --from "$from" --to "$to"
say "summary of its middle, which cuts groups: $(rate "$best_cpu") of the whole recording, peak $((best_kib / 1024)) MiB"
"$htmtrace" dtl --input "$folder/log.dtl" --summary --from "$from" --to "$to" 2>&1 >/dev/null | tail -n 1 | tee -a "$log"
best decoding bash -c 'to_null "$@"' - "$htmtrace" dtl --input "$folder/log.dtl" --summary --check
say "summary from every entry (--check): $(rate "$best_cpu"), peak $((best_kib / 1024)) MiB"
best text bash -c 'to_null "$@"' - "$htmtrace" dtl --input "$folder/log.dtl"
say "text: $(rate "$best_cpu"), peak $((best_kib / 1024)) MiB"
text_cpu=$best_cpu
best cat bash -c 'cat "$1" | cat >/dev/null' - "$folder/text"
say "text against cat of the same bytes: $(awk -v text="$text_cpu" -v cat="$best_cpu" 'BEGIN {
    if (cat < 0.01) printf "at least "
    printf "%.1f", text / (cat < 0.01 ? 0.01 : cat)
}') times"
