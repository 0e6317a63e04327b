#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# decode.sh BUILD_DIR [SIZE_MIB]: measures `htmtrace decode` of a generated POWER10 trace (default 512 MiB) on
# one core: speed to text, to qtrace and to counts (--summary), and memory. Then measures a bus trace in the
# same way. BUILD_DIR is a release build with tests.
#
# Each number is the best of three runs pinned to one core. For comparison, the same core copies the same text
# from the page cache to the same target (`cat`) in this run. The ratio depends less on the machine than the
# rates do. The result of two threads is compared with two independent programs on the same two cores. The raw
# numbers are in BUILD_DIR/benchmark/decode.log.
set -euo pipefail
build=$(realpath "${1:?usage: decode.sh BUILD_DIR [SIZE_MIB]}")
size_mib=${2:-512}
htmtrace=$build/cli/htmtrace
folder=$build/benchmark
log=$folder/decode.log
core=$(($(nproc) - 1))
# shellcheck source=benchmarks/needs.sh
. "$(dirname "$0")/needs.sh"
needs cli/htmtrace tests/generator/make_core_trace tests/generator/make_nest_trace
mkdir -p "$folder"
trap 'rm -f "$folder"/{trace,map,small,text,text.qt,copy,time}' EXIT

say() { echo "$*" | tee -a "$log"; }

least() { awk -v a="$1" -v b="$2" 'BEGIN { print b == "" || a < b ? a : b }'; }

# best NAME COMMAND...: stores the least CPU seconds (user and system), wall seconds and peak KiB of three runs
# on one core in best_cpu, best_wall and best_kib.
best() {
    local name=$1 cpu wall kib
    shift
    best_cpu='' best_wall=''
    for _ in 1 2 3; do
        /usr/bin/time -o "$folder/time" -f '%U %S %e %M' taskset -c "$core" "$@"
        read -r user system wall kib <"$folder/time"
        cpu=$(awk "BEGIN { print $user + $system }")
        echo "$name: cpu $cpu s wall $wall s peak $kib KiB" >>"$log"
        best_cpu=$(least "$cpu" "$best_cpu")
        best_wall=$(least "$wall" "$best_wall")
        best_kib=$kib
    done
}

say "# $(date -u +%FT%TZ) $(uname -m) $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-) load $(cut -d' ' -f1 /proc/loadavg)"
"$build/tests/generator/make_core_trace" power10 $((size_mib << 20)) "$folder/trace" "$folder/map"
"$build/tests/generator/make_core_trace" power10 $((1 << 20)) "$folder/small" "$folder/map"
decode=("$htmtrace" decode -q --translation "$folder/map" --partition 0)

# Read all files once, to fill the page cache and to count.
summary=$("$htmtrace" decode --translation "$folder/map" --partition 0 --force -o "$folder/text" \
    "$folder/trace" 2>&1 | tail -n 1)
say "$summary"
bytes=$(awk '{ print $2 }' <<<"$summary")
instructions=$(awk '{ print $4 }' <<<"$summary")
text_bytes=$(stat -c %s "$folder/text")

rate() { # SECONDS: the rates of a decode in that time
    awk "BEGIN { printf \"%.1f M instructions/s, trace %.0f MB/s, text %.0f MB/s\",
        $instructions / $1 / 1e6, $bytes / $1 / 1e6, $text_bytes / $1 / 1e6 }"
}
ratio() { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }

best "cat through a pipe" bash -c 'cat "$0" | cat >/dev/null' "$folder/text"
pipe_cpu=$best_cpu
best "decode to null" bash -c '"$@" >/dev/null' - "${decode[@]}" "$folder/trace"
null_cpu=$best_cpu
say "decode to /dev/null: $null_cpu s CPU, $best_wall s wall: $(rate "$null_cpu"), peak $best_kib KiB"
say "  ratio to copying the same text through a pipe ($pipe_cpu s CPU): $(ratio "$null_cpu" "$pipe_cpu")"
peak_large=$best_kib

best "copy to a file" dd if="$folder/text" of="$folder/copy" bs=256K status=none
copy_cpu=$best_cpu
rm -f "$folder/copy"
best "decode to a file" "${decode[@]}" --force -o "$folder/text" "$folder/trace"
say "decode to a file: $best_cpu s CPU, $best_wall s wall: $(rate "$best_cpu")"
say "  ratio to copying the same text with dd ($copy_cpu s CPU): $(ratio "$best_cpu" "$copy_cpu")"

# The same instructions as a file for simulators. The file is one stream, so one thread writes it.
best "decode to qtrace" "${decode[@]}" --format qtrace --force -o "$folder/text.qt" "$folder/trace"
qtrace_cpu=$best_cpu
best "copy of the qtrace" dd if="$folder/text.qt" of="$folder/copy" bs=256K status=none
rm -f "$folder/copy" "$folder/text.qt"
say "decode to a .qt file: $qtrace_cpu s CPU:" \
    "$(awk "BEGIN { printf \"%.1f\", $instructions / $qtrace_cpu / 1e6 }") M instructions/s"
say "  ratio to copying the same file with dd ($best_cpu s CPU): $(ratio "$qtrace_cpu" "$best_cpu")"

# Decodes the text with two threads on two cores, then with two independent programs. The result of the programs is the
# most that both cores can do, because they may share a clock, a cache, or everything but their registers.
together() { # COMMAND...: on each of the two cores
    local first
    taskset -c "$((core - 1))" "$@" >/dev/null &
    first=$!
    taskset -c "$core" "$@" >/dev/null
    wait "$first"
}
if (($(nproc) > 1)); then
    alone='' beside='' parallel=''
    # The commands take turns, so that other load on the machine affects all of them equally.
    for _ in 1 2 3 4 5; do
        for way in alone beside parallel; do
            begun=$(date +%s%N)
            case $way in
                alone) taskset -c "$core" "${decode[@]}" -j 1 "$folder/trace" >/dev/null ;;
                beside) together "${decode[@]}" -j 1 "$folder/trace" ;;
                parallel) taskset -c "$((core - 1)),$core" "${decode[@]}" -j 2 "$folder/trace" >/dev/null ;;
            esac
            took=$(awk "BEGIN { print ($(date +%s%N) - $begun) / 1e9 }")
            echo "$way: wall $took s" >>"$log"
            printf -v "$way" %s "$(least "$took" "${!way}")"
        done
    done
    limit=$(awk "BEGIN { printf \"%.2f\", 2 * $alone / $beside }")
    gain=$(ratio "$alone" "$parallel")
    say "two threads: $parallel s wall, one: $alone s: $gain times as fast"
    say "  two programs at once decode $limit times as much as one program ($beside s wall for both);" \
        "two threads reach $(awk "BEGIN { printf \"%.0f\", 100 * $gain / $limit }") % of that"
    "${decode[@]}" -j 2 "$folder/trace" | cmp - "$folder/text"
fi

# Counts the content, without a line for each instruction.
summarize() { # KIND
    best "pipe of the $1 trace" bash -c 'cat "$0" | cat >/dev/null' "$folder/trace"
    pipe_cpu=$best_cpu
    best "summary of $1" "${decode[@]}" -j 1 --summary --force -o /dev/null "$folder/trace"
    say "summary of $1: $best_cpu s CPU, $best_wall s wall:" \
        "trace $(awk "BEGIN { printf \"%.0f\", $(stat -c %s "$folder/trace") / $best_cpu / 1e6 }") MB/s, peak $best_kib KiB"
    say "  ratio to copying the trace through a pipe ($pipe_cpu s CPU): $(ratio "$best_cpu" "$pipe_cpu")"
}
summarize core

best "decode a small trace" bash -c '"$@" >/dev/null' - "${decode[@]}" "$folder/small"
say "peak memory: $best_kib KiB for 1 MiB of trace, $peak_large KiB for $size_mib MiB"

# Measures a bus trace in the same way. Half of its records are commands.
"$build/tests/generator/make_nest_trace" $((size_mib << 20)) "$folder/trace"
decode+=(--type nest)
"${decode[@]}" --force -o "$folder/text" "$folder/trace"
best "cat through a pipe, nest" bash -c 'cat "$0" | cat >/dev/null' "$folder/text"
pipe_cpu=$best_cpu
best "decode nest to null" bash -c '"$@" >/dev/null' - "${decode[@]}" "$folder/trace"
say "decode nest to /dev/null: $best_cpu s CPU, $best_wall s wall:" \
    "$(awk "BEGIN { printf \"%.1f\", $size_mib * 65536 / $best_cpu / 1e6 }") M records/s, peak $best_kib KiB"
say "  ratio to copying the same text through a pipe ($pipe_cpu s CPU): $(ratio "$best_cpu" "$pipe_cpu")"
summarize nest
