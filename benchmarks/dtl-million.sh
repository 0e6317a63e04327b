#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dtl-million.sh [COUNT [RATE [SECONDS [EVENT...]]]]: `htmtrace dtl -o` in the emulated LPAR with eight
# virtual processors: for each event (all, cede, preempt, fault) one recording of about COUNT entries
# (default 1000000), or of SECONDS (default 600) when these are over before, at RATE preemptions a second
# of each processor (default 1200) and a sixth as many faults; the other way round when only faults are
# recorded.
# Every entry that the hypervisor wrote must be in the recording, once and in order, or be named as lost.
# Prints how many were compared; status 1 when one is wrong or missing without being named, 3 when
# entries were lost, but named. Needs tests/machine/setup. Minutes, so it is not among the tests.
#
# The processors are idle but for the driver's timer: each of its looks is a dispatch, and makes up for
# the preemptions and faults that were due in the ten milliseconds before, which must be less than the 84
# entries that the driver takes. With all of them busy, or something else to do on this machine, the
# emulated timers are late, the log is full, and the driver loses entries.
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

# record EVENT: to $work/share, and what the hypervisor wrote to $work/log. An entry takes some ten bytes;
# thirteen with a fault's address.
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

# named CPU: how many entries of it the recording says were lost.
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
        echo "CPU $cpu: $missing are missing, and only ${lost:-0} were named as lost"
        wrong=1
    done <"$work/compared"
done
[[ -z $wrong ]] || exit 1
[[ -z $lost_some ]] || exit 3
