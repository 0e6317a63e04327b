#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# index.sh BUILD_DIR [SIZE_GIB]: measures time and memory to decode one hundredth of a large trace by its index.
# The traces are core traces of each format, and a nest trace (default 8 GiB). BUILD_DIR is a release build with
# tests, and needs room for one such trace.
#
# The slice is from the middle, by instruction numbers (core) or by time (nest), as text into a file. It is
# decoded once with the trace in the page cache, and once after dropping the trace from the cache as far as
# possible. For comparison, the whole trace is decoded. With SIZE_GIB 1, the text is compared with that of the
# whole trace (larger texts take too much room). Raw numbers: BUILD_DIR/benchmark/index.log.
set -euo pipefail
build=$(realpath "${1:?usage: index.sh BUILD_DIR [SIZE_GIB]}")
size_gib=${2:-8}
htmtrace=$build/cli/htmtrace
folder=$build/benchmark
log=$folder/index.log
part_mib=512
# shellcheck source=benchmarks/needs.sh
. "$(dirname "$0")/needs.sh"
needs cli/htmtrace tests/generator/make_core_trace tests/generator/make_nest_trace
mkdir -p "$folder"
trap 'rm -f "$folder"/{part,trace,trace.index,map,slice,again,messages,time}' EXIT

say() { echo "$*" | tee -a "$log"; }

# timed NAME COMMAND...: stores seconds in $wall and peak KiB in $kib.
timed() {
    local name=$1
    shift
    /usr/bin/time -o "$folder/time" -f '%e %M' "$@"
    read -r wall kib < <(tail -n 1 "$folder/time")
    echo "$name: wall $wall s peak $kib KiB" >>"$log"
}

# Drops the trace from the page cache.
forget() {
    sync "$folder/trace"
    dd if="$folder/trace" iflag=nocache count=0 status=none
}

# slice KIND OPTION...
slice() {
    local kind=$1 cache
    shift
    timed "$kind index" "$htmtrace" index --type "$kind" "$folder/trace" 2>"$folder/messages"
    say "$(tail -n 1 "$folder/messages" | sed 's,.*/,,')"
    say "  made in $wall s, peak $kib KiB"
    for cache in cold warm; do
        [[ $cache == warm ]] || forget
        timed "$kind slice $cache" "$htmtrace" decode --type "$kind" --translation "$folder/map" --partition 0 \
            --force -o "$folder/slice" "$@" "$folder/trace" 2>"$folder/messages"
        say "  $* ($cache): $wall s, peak $kib KiB, $(wc -l <"$folder/slice") lines," \
            "$(tail -n 1 "$folder/messages" | awk '{ print $2 }') bytes read"
    done
    if ((size_gib == 1)); then
        rm "$folder/trace.index"
        timed "$kind without" "$htmtrace" decode --type "$kind" --translation "$folder/map" --partition 0 \
            --force -o "$folder/again" "$@" "$folder/trace" 2>"$folder/messages"
        cmp "$folder/slice" "$folder/again"
        say "  the same without the index: $wall s, peak $kib KiB"
    fi
}

repeat() { # COUNT: as many times the part
    local i
    for ((i = 0; i < $1; i++)); do cat "$folder/part"; done >"$folder/trace"
    rm "$folder/part"
}

say "# $(date -u +%FT%TZ) $(uname -m) $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-) load $(cut -d' ' -f1 /proc/loadavg)"
for format in power10 power8; do
    say "$format"
    "$build/tests/generator/make_core_trace" $format $((part_mib << 20)) "$folder/part" "$folder/map"
    repeat $((size_gib * 1024 / part_mib))
    instructions=$("$htmtrace" index "$folder/trace" 2>&1 | grep -oE '[0-9]+ instructions' | cut -d' ' -f1)
    slice core --instructions "$((instructions / 2))-$((instructions / 2 + instructions / 100 - 1))"
done

"$build/tests/generator/make_nest_trace" $((part_mib << 20)) "$folder/part"
ticks=$("$htmtrace" decode -q --type nest --format csv "$folder/part" | tail -n 1 | cut -d, -f3)
ticks=$((ticks * size_gib * 1024 / part_mib))
repeat $((size_gib * 1024 / part_mib))
slice nest --ticks "$((ticks / 2))-$((ticks / 2 + ticks / 100))"
