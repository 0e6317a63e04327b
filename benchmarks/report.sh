#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# report.sh BEFORE AFTER [RECORDING]: compares the processor time of two builds of htmtrace, for decode
# and report. BEFORE and AFTER are release build trees. RECORDING is a recording of a core. Without a
# RECORDING, the script generates a POWER10 core trace and a POWER9 nest trace of 256 MiB each. Their
# random addresses are the worst case for reports.
#
# The builds take turns, five runs each on one core; the least time of each counts. Prints ratios.
set -euo pipefail
usage='usage: report.sh BEFORE AFTER [RECORDING]'
before=$(realpath "${1:?$usage}")
after=$(realpath "${2:?$usage}")
build=$after
# shellcheck source=benchmarks/needs.sh
. "$(dirname "$0")/needs.sh"
needs cli/htmtrace tests/generator/make_core_trace tests/generator/make_nest_trace
folder=$build/benchmark
core=$(($(nproc) - 1))
mkdir -p "$folder"
trap 'rm -f "$folder"/{trace,map,time}' EXIT

if [[ -n ${3:-} ]]; then
    input=("$(realpath "$3")")
else
    "$build/tests/generator/make_core_trace" power10 $((256 << 20)) "$folder/trace" "$folder/map"
    input=(--translation "$folder/map" --partition 0 "$folder/trace")
fi

# spent BUILD ARGUMENT...: prints seconds of user and system time. A trace with losses is not a failure.
spent() {
    local status=0
    /usr/bin/time -q -o "$folder/time" -f '%U %S' taskset -c "$core" "$1/cli/htmtrace" "${@:2}" "${input[@]}" \
        >/dev/null 2>&1 || status=$?
    [[ $status == 0 || $status == 3 ]] || { echo "report.sh: htmtrace ${*:2} failed: $status" >&2 && return 1; }
    awk '{ print $1 + $2 }' "$folder/time"
}

least() { sort -g | head -n 1; }

compare() { # NAME ARGUMENT...
    local name=$1 old=() new=()
    shift
    for _ in 1 2 3 4 5; do
        old+=("$(spent "$before" "$@")")
        new+=("$(spent "$after" "$@")")
    done
    awk -v name="$name" -v old="$(printf '%s\n' "${old[@]}" | least)" \
        -v new="$(printf '%s\n' "${new[@]}" | least)" \
        'BEGIN { printf "%-12s before %6.2f s, after %6.2f s, ratio %.2f\n", name, old, new, new / old }'
}

compare text decode -q
compare summary decode -q --summary
compare report report
compare timeline report --timeline
compare blocks report --blocks
compare stacks report --stacks

if [[ -z ${3:-} ]]; then
    "$build/tests/generator/make_nest_trace" $((256 << 20)) "$folder/trace"
    input=(--type nest "${input[@]}")
    compare 'nest text' decode -q
    compare 'nest summary' decode -q --summary
    compare 'nest report' report
fi
