#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rows.sh BUILD_DIR [SIZE_MIB]: measures `htmtrace decode --format avro` and parquet of a generated POWER10 trace
# (default 512 MiB) with each codec: rows per second of processor time on one core, the size of the files, memory, and
# the gain of two threads. BUILD_DIR is a release build with tests.
#
# Each number is the best of five runs; one thread, two threads, and two programs side by side take turns. Two programs
# show what both cores can do. The raw numbers are in BUILD_DIR/benchmark/rows.log.
set -euo pipefail
build=$(realpath "${1:?usage: rows.sh BUILD_DIR [SIZE_MIB]}")
size_mib=${2:-512}
htmtrace=$build/cli/htmtrace
folder=$build/benchmark
log=$folder/rows.log
core=$(($(nproc) - 1))
# shellcheck source=benchmarks/needs.sh
. "$(dirname "$0")/needs.sh"
needs cli/htmtrace tests/generator/make_core_trace
mkdir -p "$folder"
trap 'rm -rf "$folder"/{trace,map,rows-*,time}' EXIT

say() { echo "$*" | tee -a "$log"; }
least() { awk -v a="$1" -v b="$2" 'BEGIN { print b == "" || a < b ? a : b }'; }

# rows OUTPUT CORES THREADS: decode to this folder on these cores. Sets wall, cpu and kib.
rows() {
    local user system
    /usr/bin/time -o "$folder/time" -f '%e %U %S %M' taskset -c "$2" "$htmtrace" decode -q -j "$3" --format "$format" \
        --codec "$codec" --translation "$folder/map" --partition 0 --force -o "$folder/rows-$1" "$folder/trace"
    read -r wall user system kib <"$folder/time"
    cpu=$(awk "BEGIN { print $user + $system }")
}

# side_by_side: the time until two programs of one thread have ended. Sets wall.
side_by_side() {
    local began first
    began=$(date +%s%N)
    (rows b "$((core - 1))" 1) &
    first=$!
    rows a "$core" 1
    wait "$first"
    wall=$(awk "BEGIN { print ($(date +%s%N) - $began) / 1e9 }")
}

say "# $(date -u +%FT%TZ) $(uname -m) $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-) load $(cut -d' ' -f1 /proc/loadavg)"
"$build/tests/generator/make_core_trace" power10 $((size_mib << 20)) "$folder/trace" "$folder/map"
instructions=$("$htmtrace" decode --summary "$folder/trace" 2>&1 | awk '/instructions,/ { print $4 }')
say "$instructions rows"
for job in {avro,parquet}-{null,snappy,zstandard,deflate}; do
    format=${job%-*} codec=${job#*-}
    one='' two='' both='' least_cpu=''
    for _ in 1 2 3 4 5; do
        rows a "$core" 1
        one=$(least "$wall" "$one") least_cpu=$(least "$cpu" "$least_cpu")
        if (($(nproc) > 1)); then
            rows a "$((core - 1)),$core" 2
            two=$(least "$wall" "$two")
            side_by_side
            both=$(least "$wall" "$both")
        fi
        echo "$job: one $one s, two threads ${two:-not run} s, two programs ${both:-not run} s, cpu $least_cpu s" >>"$log"
    done
    say "$job: $(awk "BEGIN { printf \"%.1f\", $instructions / $least_cpu / 1e6 }") M rows/s," \
        "$(du -sm "$folder/rows-a" | cut -f1) MiB, peak $kib KiB"
    [[ -z $two ]] || say "  two threads: $(awk "BEGIN { printf \"%.2f\", $one / $two }") times as fast as one;" \
        "two programs do $(awk "BEGIN { printf \"%.2f\", 2 * $one / $both }") times as much as one"
done
