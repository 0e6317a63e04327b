#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# drain.sh BUILD_DIR [SIZE_MIB]: measures the cost of draining a finished trace. BUILD_DIR is a release build
# with tests. tests/machine/setup must have set up the emulated machine.
#
# In the guest: the time from the first read(2) of the event to the last byte in the file (on tmpfs), by
# `htmtrace record`. For comparison, a loop of read(2) and memcpy(3) drains the same kind of event, with the
# same driver and hypervisor.
#
# On this machine: processor time to save SIZE_MIB (default 4096) from eight simulated rings of 4 MiB to files
# in BUILD_DIR. For comparison, a loop only writes the same pieces. Each number is the best of three runs. The
# raw numbers are in BUILD_DIR/benchmark/drain.log.
#
# Measured on two virtual processors of an AMD EPYC, ext4, without other load: 0.15 CPU-seconds per GB in pieces
# of 1 MiB, 0.22 in pieces of 64 KiB.
set -euo pipefail
build=$(realpath "${1:?usage: drain.sh BUILD_DIR [SIZE_MIB]}")
size_mib=${2:-4096}
machine=$(cd "$(dirname "$0")/../tests/machine" && pwd)
folder=$build/benchmark
log=$folder/drain.log
mkdir -p "$folder"
work=$(mktemp -d "$folder/drain.XXXXXX")
trap 'rm -rf "$work"' EXIT

say() { echo "$*" | tee -a "$log"; }

# least FIELD FILE PREFIX: prints the smallest number in that field of the lines that begin with PREFIX.
least() {
    awk -v field="$1" -v prefix="$3" 'index($0, prefix) == 1 { print $field }' "$2" | sort -n | head -n 1
}
ratio() { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }

say "# $(date -u +%FT%TZ) $(uname -m) $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-) load $(cut -d' ' -f1 /proc/loadavg)"

cat >"$work/config" <<'EOF'
core 0 node=0 chip=0 core=0
core 1 node=0 chip=1 core=4
buffer core 25
EOF
# Both fill the whole trace memory, so that both drain the same 32 MiB.
cat >"$work/guest" <<'EOF'
insmod /share/modules/htm.ko
echo 1..1
moment() { sed -n "/\"$1\"/,/}/s/.*\"monotonic_ns\": \([0-9]*\).*/\1/p" "$2/manifest.json"; }
for round in 1 2 3; do
    bare 0 1 4 1 4000
    htmtrace record --chip 1 --core 4 --cpu 0 -o /tmp/trace --force -- taskset 2 million 4 2>/dev/null
    echo "tool: $(wc -c </tmp/trace/htm.bin.n0.p1.c4) bytes $(($(moment ended /tmp/trace) - $(moment stopped /tmp/trace))) ns"
done
echo "ok 1 - measured"
EOF
"$machine/boot" --config "$work/config" --log "$work/log" "$work/guest" >"$work/tap" ||
    { cat "$work/tap" "$work/log/script.log" && exit 1; }
grep -E '^(bare|tool):' "$work/log/script.log" | tr -d '\r' | tee -a "$log" >"$work/numbers"
[[ $(awk '{ print $2 }' "$work/numbers" | sort -u | wc -l) == 1 ]] ||
    { cat "$work/numbers" && echo "drain.sh: the two programs drained different amounts" >&2 && exit 1; }
bare=$(least 4 "$work/numbers" bare:)
tool=$(least 4 "$work/numbers" tool:)
say "in the guest: $((tool / 1000000)) ms for $(awk 'NR == 1 { print $2 }' "$work/numbers") bytes," \
    "bare loop $((bare / 1000000)) ms, ratio $(ratio "$tool" "$bare")"

cmake --build "$build" --target drain_rings >/dev/null
for piece_kib in 1024 64 4; do
    for _ in 1 2 3; do
        "$build/tests/drain/drain_rings" "$work" "$size_mib" $piece_kib
    done >"$work/rings"
    sed "s/^/pieces of $piece_kib KiB, /" "$work/rings" >>"$log"
    write=$(least 3 "$work/rings" "bare write:")
    drain=$(least 2 "$work/rings" "drain:")
    say "pieces of $piece_kib KiB: $drain CPU-seconds per GB to a file," \
        "bare write $write, ratio $(ratio "$drain" "$write")"
done
