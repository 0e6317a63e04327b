# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# Functions of the host scripts of the tests crash, crash-disk and crash-system. They compare the recordings of the guest
# with their manifests, with the recorder's messages and with the executed instructions.
# shellcheck source=tests/machine/cases/host.sh
. "$(dirname "${BASH_SOURCE[0]}")/../host.sh"

declare -A count
wholes=() beginnings=()

# value KEY FILE: print the first value of KEY in FILE.
value() {
    sed -n "s/.*\"$1\": \"\{0,1\}\([a-z0-9]*\).*/\1/p" "$2" | head -n 1
}

wrong() {
    echo "$(basename "$folder"): $*" >>"$log/findings"
}

# nothing_wrong DESCRIPTION: `wrong` was not called.
nothing_wrong() {
    verdict "$([[ ! -s $log/findings ]] && echo 0 || echo 1)" "$1" "$log/findings"
}

# decoded STATE: decode the trace to text. decode must read the manifest without a message. The recorder writes the
# memory map last; if the map is missing, use the map of another recording. Only a complete recording may have status 0.
# For a killed recorder, decode reports the recorder's end and the size of the trace.
decoded() {
    local status=0 map=()
    [[ -s $folder/translation.n0.p1.c4 ]] ||
        map=(--translation "$share/crash/whole-1/translation.n0.p1.c4")
    "$decoder" decode -o "$folder/text" "${map[@]}" "$folder" 2>"$folder/decode" || status=$?
    [[ $status == 0 || $status == 3 ]] || wrong "decode: status $status, $(tail -n 2 "$folder/decode")"
    ! grep 'cannot use .*manifest' "$folder/decode" >"$log/complaint" || wrong "$(<"$log/complaint")"
    case $1 in
        complete) [[ $status == 0 ]] || wrong "complete, and decode ends with $status: $(<"$folder/decode")" ;;
        recording)
            [[ $status == 3 ]] || wrong "killed, and decode ends with $status"
            grep -q "its recorder ended before .* found $size bytes" "$folder/decode" ||
                wrong "decode does not report the killed recorder: $(<"$folder/decode")"
            ;;
        *) [[ $status == 3 ]] || wrong "$1, and decode ends with $status" ;;
    esac
}

# accounted: the bytes in the file and the lost bytes in the ledger are the bytes that the driver delivered.
accounted() {
    python3 - "$folder/manifest.json" <<'EOF'
import json, sys
manifest = json.load(open(sys.argv[1]))
trace = manifest["targets"][0]["trace"]
delivered, written = trace["delivered_bytes"], trace["bytes"]
losses = [loss for loss in manifest["losses"] if loss["place"] == "trace file"]
sum_ok = delivered is None or written + sum(loss["amount"] for loss in losses) == delivered
sys.exit(not (sum_ok and all(loss["position"] == written for loss in losses)))
EOF
}

# judge: write the errors in the files of the recording in $folder, and list the traces to compare.
judge() {
    local trace=$folder/htm.bin.n0.p1.c4 manifest=$folder/manifest.json state status size session
    [[ -e $trace ]] || trace+=.zst
    status=$(<"$folder/status")
    session=$(cat "$folder/session" 2>/dev/null || true)
    [[ $(<"$folder/configured") == 0 ]] || wrong "a macro is left configured"
    size=$(stat -c %s "$trace" 2>/dev/null || echo 0)
    if [[ ! -s $manifest ]]; then
        # The recording did not begin, or found no room for a manifest. It must not have a trace.
        count[none]=$((count[none] + 1))
        [[ $size == 0 ]] || wrong "a trace and no manifest"
        [[ $status != 0 && $status != 3 ]] || wrong "no manifest with status $status"
        return
    fi
    state=$(value state "$manifest")
    [[ $size == 0 ]] || decoded "$state"
    [[ $state == recording ]] || accounted || wrong "the file and the ledger are not what the driver delivered"
    case $state in
        complete)
            count[complete]=$((count[complete] + 1))
            [[ $status =~ ^(0|137)$ ]] || wrong "complete with status $status"
            [[ $size != 0 && $size == "$(value stored_bytes "$manifest")" ]] || wrong "complete, and $size bytes"
            [[ $size == 0 ]] || wholes+=("$session-$session=$folder/text")
            return
            ;;
        incomplete | failed)
            count[told]=$((count[told] + 1))
            [[ $status =~ ^(1|3)$ ]] || wrong "$state with status $status"
            grep -q '"cause"' "$manifest" || grep -A 1 '"errors"' "$manifest" | grep -q '[a-z] ' ||
                wrong "$state, and nothing says why"
            ;;
        recording)
            count[cut]=$((count[cut] + 1))
            [[ $status == 137 ]] || wrong "still recording with status $status"
            ;;
        *) wrong "state \"$state\"" ;;
    esac
    [[ $size == 0 ]] || beginnings+=("$session-$session=$folder/text")
}

# named KIND TEXT: print the number of recordings of this kind whose messages contain TEXT.
named() {
    find "$share/crash" -path "*/$1-*/words" -exec grep -l "$2" {} + | wc -l
}


# share_rounds ASSIGNMENTS: hand the numbers of repetitions and the common functions to the guest.
share_rounds() {
    mkdir -p "$share"
    echo "$1" >"$share/rounds"
    cp "$machine/cases/crash/recorder.sh" "$share/"
}

# compare_recordings NUMBER FOLDER...: judge these recordings.
compare_recordings() {
    local number=$1
    shift
    : >"$log/findings"
    count=([complete]=0 [told]=0 [cut]=0 [none]=0) wholes=() beginnings=()
    for folder in "$@"; do
        if [[ -e $folder/stream ]]; then judge_stream; else judge; fi
    done
    echo "# of $number: ${count[complete]} are complete, ${count[told]} report a loss," \
        "${count[cut]} were cut off, ${count[none]} had not begun"
    check "the host has read all recordings" \
        test $((count[complete] + count[told] + count[cut] + count[none])) = "$number"
    nothing_wrong "each file is readable, each loss is reported, and no macro is left configured"
    equal_to_oracle --parts "complete traces equal the executed instructions" "${wholes[@]}"
    equal_to_oracle --beginnings "incomplete traces equal the first executed instructions" "${beginnings[@]}"
}

# equal_to_oracle HOW DESCRIPTION PART...: compare these parts, in the order of the recordings.
equal_to_oracle() {
    local how=$1 description=$2 parts=()
    shift 2
    [[ $# != 0 ]] || return 0
    mapfile -t parts < <(printf '%s\n' "$@" | sort -n)
    check "$# $description" "$tools/oracle-compare" "$how" "$log/oracle.n0.p1.c4" "${parts[@]}"
}

# covered WORDS COMPARED CPU: htmtrace reports the loss of all entries that are missing. It may also report entries after
# the last printed entry.
covered() {
    local named missing=0 after=0
    named=$(lost_entries "$1" "$3")
    read -r missing after < <(awk -v cpu="$3" '$2 == cpu { print $8, $10 }' "$2") || true
    [[ $named -ge ${missing:-0} && $named -le $((${missing:-0} + ${after:-0})) ]] ||
        wrong "CPU $3: reported $named lost entries, missing $missing, written after the last printed entry $after"
}

# judge_log: write the errors in the dispatch trace log $folder. The entries are those of the hypervisor, and htmtrace
# reports the missing entries. A recorder that could not begin leaves no file.
judge_log() {
    local status=0 recorded cpu
    recorded=$(<"${folder%.dtl}.status")
    if [[ ! -e $folder ]]; then
        [[ $recorded == 1 ]] || wrong "no file, and its recorder ended with $recorded"
        return
    fi
    "$decoder" dtl --input "$folder" >"$folder.text" 2>"$folder.words" || status=$?
    [[ $status == "$recorded" ]] ||
        wrong "its recorder ended with $recorded, and dtl reads it with $status: $(tail -n 2 "$folder.words")"
    "$tools/dtl-compare" "$log"/dtl.oracle.[0-2] "$folder.text" >"$folder.compared" 2>&1 ||
        wrong "not the hypervisor's entries: $(tail -n 3 "$folder.compared")"
    for cpu in 0 1 2; do covered "$folder.words" "$folder.compared" $cpu; done
}

# compare_logs FILE.status...: judge these dispatch trace logs.
compare_logs() {
    : >"$log/findings"
    for folder in "${@/%.status/.dtl}"; do judge_log; done
    nothing_wrong "$# dispatch trace logs have the hypervisor's entries, and htmtrace reports the missing entries"
}
