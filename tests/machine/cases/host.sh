# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# Functions of the `host` scripts of the machine tests. A script sources this file. $log is the test's folder for logs,
# and $share the folder that the guest sees as /share.
set -euo pipefail
# shellcheck source=tests/machine/paths.sh
. "$(dirname "${BASH_SOURCE[0]}")/../paths.sh"
here=$(cd "$(dirname "$0")" && pwd)
share=$log/share
decoder=$htmtrace
tools=$host_build/tests/machine/compare

checks=0 failures=0

# verdict STATUS DESCRIPTION [FILE]: print one line of TAP, and the end of FILE if STATUS is not 0.
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

# boot_guest [OPTION]...: run the test's guest script on the kernel of `run --kernel`, unless an option names another
# kernel. Indent the guest's own checks. The timeout allows for the debug kernel, which is five times slower.
boot_guest() {
    local status=0 option
    for option in config faults; do
        [[ ! -e $here/$option ]] || set -- "--$option" "$here/$option" "$@"
    done
    mkdir -p "$share"
    [[ ${guest_kernel:-normal} == normal ]] || set -- "$@" --kernel "$guest_kernel" --timeout 1500
    rm -f "$log/hypervisor.report"
    set -- "$machine/boot" --timeout 1200 --log "$log" --share "$share" "$@" "$here/guest"
    "$@" >"$log/guest.tap" 2>"$log/boot.log" || status=$?
    # Without a report, QEMU was killed by a signal, or did not end on SIGTERM. Such a run states nothing about htmtrace,
    # so the test runs once more, and shows the first run. A guest that fails or hangs has a report.
    if [[ $status -ne 0 && ! -e $log/hypervisor.report ]]; then
        echo "# the emulator ended without a report; the second run counts. The first run:"
        sed 's/^/#   /' "$log/guest.tap" "$log/boot.log"
        status=0
        "$@" >"$log/guest.tap" 2>"$log/boot.log" || status=$?
    fi
    sed 's/^/    /' "$log/guest.tap"
    verdict "$status" "the guest's checks pass" "$log/boot.log"
    no_harm
}

# Checks after each boot: no macro is left configured, and the guest never passed an address outside its memory to
# the hypervisor.
no_harm() {
    local report=$log/hypervisor.report fact
    for fact in "configured_at_exit 0" "violations 0"; do
        check "the hypervisor reports $fact" grep -qx "$fact" "$report"
    done
}

# decode_session DIR [partial]: decode DIR to $log/decoded, and write the statistics to $log/decode.log. With
# `partial`, status 3 (incomplete) is allowed.
decode_session() {
    local status=0
    "$decoder" decode "$1" >"$log/decoded" 2>"$log/decode.log" || status=$?
    [[ ${2:-} != partial || $status != 3 ]] || status=0
    verdict "$status" "$(basename "$1") is decoded" "$log/decode.log"
}

# equals_oracle TARGET MINIMUM: the decoded text equals the executed instructions, and has MINIMUM or more of them.
equals_oracle() {
    check "$1: the decoded trace equals the executed instructions" \
        "$tools/oracle-compare" "$log/oracle.$1" "$log/decoded"
    check "$1: the trace has at least $2 instructions" least "$(wc -l <"$log/decoded")" "$2"
}

# parts_equal_oracle TARGET FOLDER: each trace FOLDER/TARGET.FIRST-LAST, which the program `stress` makes, equals the
# instructions executed between these STARTs. Add the number of instructions to part_instructions.
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
    [[ ${#parts[@]} -gt 0 ]] || return 0 # no trace is complete; the client checks the number
    check "$1: ${#parts[@]} complete traces equal the executed instructions" \
        "$tools/oracle-compare" --parts "$log/oracle.$1" "${parts[@]}"
}

# is_dump_of FILE TRACE: FILE is TRACE, then the zeros of the last dump (kmod/ABI). Fast dumps are larger.
is_dump_of() {
    local bytes most_rest=$((1 << 20)) # HTM_CHUNK_MAX of kmod/htm_trace.c
    bytes=$(stat -c %s "$2")
    cmp -n "$bytes" "$1" "$2" && [[ $(stat -c %s "$1") -lt $((bytes + most_rest)) &&
        $(tail -c +$((bytes + 1)) "$1" | tr -d '\0' | wc -c) == 0 ]]
}

# universal_got TARGET: the files that the program `universal` saved for this target equal the hypervisor's data. The
# target is the last target that was released.
universal_got() {
    check "the trace equals the hypervisor's trace" is_dump_of "$share/trace" "$log/trace.core.$1"
    check "the memory map equals the hypervisor's memory map" cmp "$share/map" "$log/memory.map"
    check "the memory map is not empty" least "$(stat -c %s "$share/map")" 6400
}

# decoded_count NAME: print the number of NAME in decode's statistics, or 0 if they do not contain NAME.
decoded_count() {
    awk -v name="$1" '{ sub(/^ +/, "") } index($0, name " ") == 1 { n = $NF } END { print n + 0 }' \
        "$log/decode.log"
}

# lost_entries WORDS CPU: print the number of lost dispatches of this CPU in the messages of htmtrace dtl, without the
# dispatches after the kernel had disabled the event.
lost_entries() {
    { grep -oE "[0-9]+ entr(y|ies) \(CPU $2: [^)]*" "$1" || true; } |
        awk '!/disabled the event/ { sum += $1 } END { print sum + 0 }'
}

# fact KEY: print the value of KEY in the hypervisor's report.
fact() {
    awk -v key="$1" 'index($0, key " ") == 1 { print substr($0, length(key) + 2) }' \
        "$log/hypervisor.report"
}

# least NUMBER MINIMUM
least() {
    echo "$1, expected at least $2"
    [[ $1 -ge $2 ]]
}

finish() {
    echo "1..$checks"
    [[ $failures -eq 0 ]]
}
