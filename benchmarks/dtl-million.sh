#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dtl-million.sh [COUNT [RATE [SECONDS [EVENT...]]]]: runs `htmtrace dtl -o` in the emulated LPAR with eight
# virtual processors. Each event (all, cede, preempt, fault) gets one recording of about COUNT entries (default
# 1000000), or of SECONDS (default 600) if these end first. Each processor has RATE preemptions a second
# (default 1200) and a sixth as many faults. If only faults are recorded, these rates are swapped.
#
# Every entry that the hypervisor wrote must be in the recording, once and in order, or be reported as lost.
# Prints the number of compared entries. Exit status: 1 if an entry is wrong or missing without a report, 3 if
# entries were lost and reported. Needs tests/machine/setup. This script takes minutes, so the tests do not run
# it.
#
# The processors are idle except for the driver's timer. Each poll of the driver is a dispatch, and makes up for
# the preemptions and faults of the preceding ten milliseconds. Their number must be less than the 84 entries
# that the driver reads. If all processors are busy, or this machine has other load, the emulated timers are
# late. Then the log is full, and the driver loses entries.
set -euo pipefail
count=${1:-1000000} rate=${2:-1200} seconds=${3:-600}
[[ $count =~ ^[1-9][0-9]*$ && $rate =~ ^[1-9][0-9]*$ && $seconds =~ ^[1-9][0-9]*$ ]] || {
    echo "usage: dtl-million.sh [COUNT [RATE [SECONDS [EVENT...]]]]" >&2
    exit 2
}
events=("${@:4}")
[[ ${#events[@]} -gt 0 ]] || events=(all cede preempt fault)
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/machine/paths.sh
. "$top/tests/machine/paths.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/share"

# record EVENT: record to $work/share, and save the hypervisor's entries in $work/log. An entry takes about ten bytes, or
# thirteen bytes with a fault's address.
record() {
    local event=$1 cpu bytes=10 preemptions=$rate faults=$((rate / 6 + 1))
    [[ $event != fault ]] || bytes=13 preemptions=$faults faults=$rate
    {
        for ((cpu = 0; cpu < 8; cpu++)); do echo "core $cpu node=0 chip=$cpu core=$cpu"; done
        printf '%s\n' "oracle on" "dtl on" "dtl_preempt $preemptions" "dtl_fault $faults"
    } >"$work/config"
    cat >"$work/guest" <<END
. /share/tap.sh
plan 1
htmtrace dtl --event $event --period 1ms --duration ${seconds}s -o /tmp/$event.dtl 2>/tmp/log &
recorder=\$!
while kill -0 \$recorder 2>/dev/null &&
    [ "\$(stat -c %s /tmp/$event.dtl 2>/dev/null || echo 0)" -lt $((count * bytes)) ]; do
    sleep 1
done
kill -INT \$recorder 2>/dev/null
wait \$recorder
status=\$?
mv /tmp/$event.dtl /share/
check "$event (\$status)" test \$status = 0 -o \$status = 3
diagnose /tmp/log
END
    rm -rf "$work/log"
    mkdir "$work/log"
    "$machine/boot" --cpus 8 --config "$work/config" --share "$work/share" --log "$work/log" \
        --timeout $((seconds * 3 + 300)) "$work/guest"
}

# named CPU: print the number of the CPU's entries that the recording reports as lost.
named() {
    grep -o "[0-9]* entries (CPU $1: [^)]*" "$work/said" | cut -d' ' -f1 | head -n 1
}

wrong='' lost_some=''
for event in "${events[@]}"; do
    record "$event"
    "$host_build/cli/htmtrace" dtl --input "$work/share/$event.dtl" >"$work/text" 2>"$work/said" || true
    "$host_build/tests/machine/compare/dtl-compare" "$work"/log/dtl.oracle.? "$work/text" \
        >"$work/compared" || wrong=1
    cat "$work/compared"
    awk -v event="$event" -v bytes="$(stat -c %s "$work/share/$event.dtl")" '
        { written += $4; printed += $6; missing += $8 }
        END { printf "%s: %d entries compared, %d missing, %.2f bytes each in the file\n",
              event, printed, missing, bytes / printed }' "$work/compared"
    while read -r _ cpu _ _ _ _ _ missing _; do
        [[ $missing == 0 ]] || lost_some=1
        lost=$(named "$cpu") || true # nothing was lost
        ((${lost:-0} < missing)) || continue
        echo "CPU $cpu: $missing entries are missing, but htmtrace reported only ${lost:-0} as lost"
        wrong=1
    done <"$work/compared"
done
[[ -z $wrong ]] || exit 1
[[ -z $lost_some ]] || exit 3
