#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dtl-million.sh [SECONDS [RATE]]: `htmtrace dtl -o` in the emulated LPAR with eight virtual processors,
# for SECONDS (default 120) with all events and a quarter of that with each single one, at RATE
# preemptions a second of each (default 6500), and a sixth as many faults. Every entry that
# the hypervisor wrote must be in the recording, once and in order, or be named as lost: the emulated
# processors stand still while this machine is busy, and the driver then finds a full log. Prints how
# many were compared; status 1 when something is wrong. Needs tests/machine/setup. Minutes, so it is not
# among the tests.
set -euo pipefail
seconds=${1:-120} rate=${2:-6500}
[[ $seconds =~ ^[1-9][0-9]*$ && $rate =~ ^[1-9][0-9]*$ ]] || {
    echo "usage: dtl-million.sh [SECONDS [RATE]]" >&2
    exit 2
}
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/machine/paths.sh
. "$top/tests/machine/paths.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/share" "$work/log"

{
    for ((cpu = 0; cpu < 8; cpu++)); do echo "core $cpu node=0 chip=$cpu core=$cpu"; done
    printf '%s\n' "oracle on" "dtl on" "dtl_preempt $rate" "dtl_fault $((rate / 6 + 1))"
} >"$work/config"
cat >"$work/guest" <<END
. /share/tap.sh
plan 4
for cpu in 0 1 2 3 4 5 6 7; do
    taskset \$(printf %x \$((1 << cpu))) sh -c 'while :; do for _ in 1 2 3 4 5 6 7 8; do :; done; usleep 500; done' &
    workers="\$workers \$!"
done
seconds=$seconds
for event in all cede preempt fault; do
    htmtrace dtl --event \$event --period 2ms --duration \${seconds}s -o /tmp/\$event.dtl 2>/tmp/log
    status=\$?
    cp /tmp/\$event.dtl /share/
    check "\$event (\$status)" test \$status = 0 -o \$status = 3
    diagnose /tmp/log
    seconds=$(((seconds + 3) / 4))
done
kill \$workers
END
"$machine/boot" --cpus 8 --config "$work/config" --share "$work/share" --log "$work/log" \
    --timeout $((seconds * 8 + 300)) "$work/guest"

# named CPU: how many entries of it the recording says were lost.
named() {
    grep -o "[0-9]* entries (CPU $1: [^)]*" "$work/said" | cut -d' ' -f1 | head -n 1
}

status=0
for event in all cede preempt fault; do
    "$host_build/cli/htmtrace" dtl --input "$work/share/$event.dtl" >"$work/text" 2>"$work/said" || true
    "$host_build/tests/machine/compare/dtl-compare" "$work"/log/dtl.oracle.? "$work/text" \
        >"$work/compared" || status=1
    cat "$work/compared"
    awk -v event=$event -v bytes="$(stat -c %s "$work/share/$event.dtl")" '
        { written += $4; printed += $6; missing += $8 }
        END { printf "%s: %d entries compared, %d missing, %.2f bytes each in the file\n",
              event, printed, missing, bytes / printed }' "$work/compared"
    while read -r _ cpu _ _ _ _ _ missing _; do
        lost=$(named "$cpu") || true # nothing was lost
        ((${lost:-0} < missing)) || continue
        echo "CPU $cpu: $missing are missing, and only ${lost:-0} were named as lost"
        status=1
    done <"$work/compared"
done
exit $status
