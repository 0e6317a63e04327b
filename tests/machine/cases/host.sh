# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# For the `host` scripts of the machine tests. Sourced; $log is the test's folder for logs, $share
# becomes what the guest sees as /share. Ends the test with its TAP plan.
set -euo pipefail
# shellcheck source=tests/machine/paths.sh
. "$(dirname "${BASH_SOURCE[0]}")/../paths.sh"
here=$(cd "$(dirname "$0")" && pwd)
share=$log/share
decoder=$host_build/cli/htmtrace
tools=$host_build/tests/machine/compare

checks=0 failures=0

# verdict STATUS DESCRIPTION [FILE]: one line of TAP, and FILE's text when STATUS tells of a failure.
verdict() {
    checks=$((checks + 1))
    if [[ $1 == 0 ]]; then
        echo "ok $checks - $2"
        return
    fi
    failures=$((failures + 1))
    echo "not ok $checks - $2"
    [[ -z ${3:-} ]] || tail -n 30 "$3" | sed 's/^/#   /'
}

# check DESCRIPTION COMMAND...
check() {
    local description=$1 status=0
    shift
    "$@" >"$log/check.log" 2>&1 || status=$?
    [[ $status -eq 0 ]] || echo "(status $status) $*" >>"$log/check.log"
    verdict "$status" "$description" "$log/check.log"
}

# boot_guest [OPTION]...: run the test's guest script, with the kernel that `run` was asked for unless
# an option names one. The guest's own checks are indented. The debug kernel is five times slower.
boot_guest() {
    local status=0 option
    for option in config faults; do
        [[ ! -e $here/$option ]] || set -- "--$option" "$here/$option" "$@"
    done
    mkdir -p "$share"
    [[ ${guest_kernel:-normal} == normal ]] || set -- "$@" --kernel "$guest_kernel" --timeout 1500
    "$machine/boot" --timeout 300 --log "$log" --share "$share" "$@" "$here/guest" >"$log/guest.tap" \
        2>"$log/boot.log" || status=$?
    sed 's/^/    /' "$log/guest.tap"
    verdict "$status" "what the guest checks" "$log/boot.log"
    no_harm
}

# What must hold after each boot, whatever was tested: no macro was left configured, and the
# hypervisor was never told to write where the guest has no memory.
no_harm() {
    local report=$log/hypervisor.report fact
    for fact in "configured_at_exit 0" "violations 0"; do
        check "the hypervisor reports $fact" grep -qx "$fact" "$report"
    done
}

# decode_session DIR [partial]: on this machine, to $log/decoded; the statistics go to
# $log/decode.log. A partial trace may be decoded with status 3, "incomplete".
decode_session() {
    local status=0
    "$decoder" decode "$1" >"$log/decoded" 2>"$log/decode.log" || status=$?
    [[ ${2:-} != partial || $status != 3 ]] || status=0
    verdict "$status" "$(basename "$1") is decoded" "$log/decode.log"
}

# equals_oracle TARGET MINIMUM: the decoded text is what the processor did, and not too little.
equals_oracle() {
    check "$1: the decoded trace is what was executed" \
        "$tools/oracle-compare" "$log/oracle.$1" "$log/decoded"
    check "$1: $2 instructions at least" least "$(wc -l <"$log/decoded")" "$2"
}

# parts_equal_oracle TARGET FOLDER: the traces FOLDER/TARGET.FIRST-LAST, which the program `stress` makes,
# are what the processor did between these STARTs. Their instructions are added to part_instructions.
part_instructions=0
parts_equal_oracle() {
    local trace parts=()
    while read -r trace; do
        # A trace may end because its memory was full.
        "$decoder" decode --partition 0 -o "$log/$trace.txt" "$2/$trace" 2>>"$log/parts.log" ||
            [[ $? == 3 ]]
        parts+=("${trace#"$1."}=$log/$trace.txt")
        part_instructions=$((part_instructions + $(wc -l <"$log/$trace.txt")))
    done < <(find "$2" -name "$1.*" -printf '%f\n' | sort -t. -k4n)
    [[ ${#parts[@]} -gt 0 ]] || return 0 # none was complete; how many were is the client's check
    check "$1: ${#parts[@]} complete traces are what was executed" \
        "$tools/oracle-compare" --parts "$log/oracle.$1" "${parts[@]}"
}

# is_dump_of FILE TRACE: FILE is TRACE, and zeros where the last piece that was dumped had room left (kmod/ABI),
# which is larger where dumps are fast.
is_dump_of() {
    local bytes most_rest=$((1 << 20)) # HTM_CHUNK_MAX of kmod/htm_trace.c
    bytes=$(stat -c %s "$2")
    cmp -n "$bytes" "$1" "$2" && [[ $(stat -c %s "$1") -lt $((bytes + most_rest)) &&
        $(tail -c +$((bytes + 1)) "$1" | tr -d '\0' | wc -c) == 0 ]]
}

# universal_got TARGET: what the program `universal` saved of this target, the last to be released, is
# what the hypervisor had.
universal_got() {
    check "the trace is what the hypervisor held" is_dump_of "$share/trace" "$log/trace.core.$1"
    check "the memory map is the hypervisor's" cmp "$share/map" "$log/memory.map"
    check "it is not empty" least "$(stat -c %s "$share/map")" 6400
}

# decoded_count NAME: the number that decode's statistics give for it, 0 if they do not name it.
decoded_count() {
    awk -v name="$1" '{ sub(/^ +/, "") } index($0, name " ") == 1 { n = $NF } END { print n + 0 }' \
        "$log/decode.log"
}

# fact KEY: its value in the hypervisor's report.
fact() {
    awk -v key="$1" 'index($0, key " ") == 1 { print substr($0, length(key) + 2) }' \
        "$log/hypervisor.report"
}

# least NUMBER MINIMUM
least() {
    echo "$1, at least $2 wanted"
    [[ $1 -ge $2 ]]
}

finish() {
    echo "1..$checks"
    [[ $failures -eq 0 ]]
}
