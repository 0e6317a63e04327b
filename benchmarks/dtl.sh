#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dtl.sh BUILD_DIR [ENTRIES]: measures `htmtrace dtl`. BUILD_DIR is a release build with tests.
#
# First, the script measures the CPU time to drain the rings of 656 CPUs as `htmtrace dtl` does (copy), to collect the
# entries of each CPU (take), and to pack them (pack). For comparison, a loop only copies the same rings to memory
# (bare), or to a file in memory (write). tests/generator/drain_dispatch_rings.cpp describes these steps.
#
# Then it measures `htmtrace dtl --input` with a recording (default 10 million entries of 8 virtual processors): the
# speed on one core to text and to a summary, the memory, and the bytes per entry in the file. For comparison, the same
# core copies the same text (`cat`) in this run.
#
# Each number is the best of three runs pinned to one core. The raw numbers are in BUILD_DIR/benchmark/dtl.log.
#
# The drain waits for memory, because the rings are larger than the processor's caches. Other work overlaps with this
# wait where possible, so `copy` varies with `bare`. Measured on two virtual processors of a busy Xeon (Sapphire Rapids,
# 2 MiB L2, rings of 4 KiB pages), with both taking turns in one process, lower quartile: bare 0.09, copy 0.11 to 0.12
# CPU seconds per GB.
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

# best NAME COMMAND...: store the CPU seconds and the peak KiB of the fastest of three runs in best_cpu and best_kib.
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

# The time of an operation that is shorter than a tick of the CPU clock is only known to be at most a tick.
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
    # The program fails if entries are lost.
    drained=$("$build/tests/generator/drain_dispatch_rings" 656 1000 $what) ||
        { echo "dtl.sh: drain, $what: $drained" >&2 && exit 1; }
    say "drain, $what: $drained"
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
