#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dtl-perf.sh [SECONDS [RATE]]: compares stock perf with htmtrace in the emulated LPAR. The guest has two virtual
# processors under constant load: RATE preemptions a second on each (default 2000), and a tenth as many faults.
# One after the other, these commands record the kernel's vpa_dtl for SECONDS (default 15) and print the entries:
#
#   perf record -a -e vpa_dtl/dtl_all/            and perf script
#   perf record -a -e ... -c 1000000000           the same, with the period of the kernel's documentation
#   htmtrace dtl -o                               and htmtrace dtl --input
#
# The script compares the printed entries with the entries that the hypervisor wrote meanwhile. It prints the
# numbers of entries that
#
#   - the command printed;
#   - are missing, and precede the last printed entry of their CPU;
#   - follow that entry;
#   - the command printed, but the hypervisor never wrote.
#
# It also prints the guest's CPU seconds to record and to print, and the size of the file. htmtrace also reads the
# files of perf, on this machine. The files stay in build-release/benchmark, with the raw numbers in dtl-perf.log.
# The script needs tests/machine/setup, and builds a perf for the guest once.
set -euo pipefail
seconds=${1:-15} rate=${2:-2000}
[[ $seconds =~ ^[1-9][0-9]*$ && $rate =~ ^[1-9][0-9]*$ ]] || {
    echo "usage: dtl-perf.sh [SECONDS [RATE]]" >&2
    exit 2
}
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/machine/paths.sh
. "$top/tests/machine/paths.sh"
guest_perf=$("$top/benchmarks/build-guest-perf")
folder=$host_build/benchmark
mkdir -p "$folder"
work=$(mktemp -d "$folder/dtl-perf.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/share" "$work/log"
cp "$guest_perf" "$work/share/perf"

{
    for cpu in 0 1; do echo "core $cpu node=0 chip=$cpu core=$cpu"; done
    printf '%s\n' "oracle on" "dtl on" "dtl_preempt $rate" "dtl_fault $((rate / 10 + 1))"
} >"$work/config"
# Each tool registers its own log with the hypervisor. htmtrace gets a fixed period, because measuring a period would
# register another log. The script stops a printing tool after two minutes: perf's time per entry grows with the number
# of entries, and with some data perf never ends.
cat >"$work/guest" <<END
. /share/tap.sh
plan 6
cp /share/perf /bin/perf
echo 0 >/proc/sys/kernel/perf_event_paranoid
for cpu in 0 1; do
    taskset \$((1 << cpu)) sh -c 'while :; do for _ in 1 2 3 4 5 6 7 8; do :; done; usleep 2000; done' &
    workers="\$workers \$!"
done
# run NAME WHAT COMMAND...: write the command's times to /share/NAME.WHAT.time, and its messages to
# /share/NAME.WHAT.said.
run() {
    name=\$1 what=\$2
    shift 2
    (time -p timeout 120 "\$@") 2>/tmp/time
    grep -E '^(real|user|sys) ' /tmp/time >/share/\$name.\$what.time
    grep -vE '^(real|user|sys) ' /tmp/time >/share/\$name.\$what.said
    return 0
}
run perf record perf record -q -a -e vpa_dtl/dtl_all/ -o /tmp/perf.data -- sleep $seconds
check "perf has a file" test -s /tmp/perf.data
run perf-1s record perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000000 -o /tmp/perf-1s.data -- sleep $seconds
check "perf has a file" test -s /tmp/perf-1s.data
run htmtrace record htmtrace dtl --period 2ms --duration ${seconds}s -o /tmp/htmtrace.data
check "htmtrace has a file" test -s /tmp/htmtrace.data
kill \$workers
run perf show perf script -i /tmp/perf.data >/tmp/perf.text
check "perf shows entries" test -s /tmp/perf.text
run perf-1s show perf script -i /tmp/perf-1s.data >/tmp/perf-1s.text
check "perf shows entries" test -s /tmp/perf-1s.text
run htmtrace show htmtrace dtl --input /tmp/htmtrace.data >/tmp/htmtrace.text
check "htmtrace shows entries" test -s /tmp/htmtrace.text
for name in perf perf-1s htmtrace; do cp /tmp/\$name.data /tmp/\$name.text /share/; done
END
"$machine/boot" --config "$work/config" --share "$work/share" --log "$work/log" \
    --timeout $((seconds * 12 + 400)) "$work/guest" >"$work/tap" || {
    cat "$work/tap"
    exit 1
}

# written N: print "CPU timebase" of each entry that the hypervisor wrote to the N-th log of each CPU.
written() {
    local cpu
    for cpu in 0 1; do
        perl -e '
            my ($cpu, $wanted) = @ARGV;
            my ($log, $entry) = (0);
            while (read(STDIN, $entry, 48)) {
                if (substr($entry, 0, 2) eq "\xff\xff") { $log++; next }
                print "$cpu ", unpack("Q>", substr($entry, 16, 8)), "\n" if $log == $wanted;
            }' $cpu "$1" <"$work/log/dtl.oracle.$cpu"
    done | sort
}

# shown TEXT: print "CPU timebase" of each printed entry. perf prints two lines for an entry.
shown() {
    sed -nE 's/.*\[0*([0-9]+)\].* timebase: *([0-9]+)[ ,].*/\1 \2/p' "$1" | sort
}

# cpu_seconds FILE
cpu_seconds() {
    awk '/^(user|sys)/ { sum += $2 } END { printf "%.2f", sum }' "$1"
}

say() { echo "$*" | tee -a "$folder/dtl-perf.log"; }

# row NUMBER TEXT WHAT RECORD_SECONDS SHOW_SECONDS BYTES
row() {
    written "$1" >"$work/written"
    shown "$2" >"$work/shown"
    sort "$work/written" "$work/written" "$work/shown" | uniq -c | sort -k2,2n -k3,3n |
        awk '{ cpu = $2; count = $1 - 2 }
            count < 0 { strange++; next }      # printed, but never written
            count == 0 { behind[cpu]++; next } # not printed; written after the last printed entry
            { missing += behind[cpu]; behind[cpu] = 0; shown++; if (count > 1) strange += count - 1 }
            END {
                for (cpu in behind) after += behind[cpu]
                printf "%d %d %d %d %d\n", shown + missing + after, shown, missing, after, strange
            }' >"$work/counts"
    read -r entries there missing after strange <"$work/counts"
    say "$(printf '%-46s %8d %8d %8d %8d %8d %9s %9s %10s' "$3" "$entries" "$there" "$missing" "$after" \
        "$strange" "$4" "$5" "$6")"
}

# recorded NUMBER NAME WHAT: print the row of a tool that recorded and printed in the guest.
recorded() {
    row "$1" "$work/share/$2.text" "$3" "$(cpu_seconds "$work/share/$2.record.time")" \
        "$(cpu_seconds "$work/share/$2.show.time")" "$(stat -c %s "$work/share/$2.data")"
}

# read_by_us NUMBER NAME: print the row of perf's file when htmtrace reads it.
read_by_us() {
    "$host_build/cli/htmtrace" dtl --input "$work/share/$2.data" >"$work/text" 2>"$work/said" || true
    row "$1" "$work/text" '  the same file through htmtrace dtl --input' - - -
    say "    $(grep '^htmtrace: .* entries of' "$work/said")"
}

say "# $(date -u +%FT%TZ) $seconds s, $rate preemptions a second, perf of Linux $(<"$kernel/version"), load $(cut -d' ' -f1 /proc/loadavg)"
say "$(printf '%-46s %8s %8s %8s %8s %8s %9s %9s %10s' '' written shown missing after strange \
    'record s' 'show s' bytes)"
recorded 1 perf 'perf record -a -e vpa_dtl/dtl_all/'
read_by_us 1 perf
recorded 2 perf-1s 'perf record -a -e vpa_dtl/dtl_all/ -c 10^9'
read_by_us 2 perf-1s
recorded 3 htmtrace 'htmtrace dtl -o'
say "    $(grep '^htmtrace: .* entries of' "$work/share/htmtrace.record.said")"
for said in perf.record perf.show perf-1s.record perf-1s.show; do
    [[ ! -s $work/share/$said.said ]] || say "$said: $(tr '\n' ' ' <"$work/share/$said.said")"
done
cp "$work"/share/perf*.data "$folder/"
