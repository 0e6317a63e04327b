#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# jobs.sh BUILD_DIR [MILLIONS]: measures the jobs that read each instruction of a core trace: instructions per second on
# one core, and the gain of a second core. BUILD_DIR is a release build with tests.
#
# The two traces have about MILLIONS million instructions each (default 20). "random" has random addresses and words, so
# caches help little. "loop" repeats the blocks and the data of a generated program. The output goes to /dev/null. The
# speed is per second of CPU time on one core, without ("user") and with the time in the kernel. Each time is the least
# of three runs. The peak memory is the highest of the three runs.
#
# The jobs with processes find the process of each instruction. In "random", control flow breaks at almost every block, so
# each block needs its own proof.
#
# The jobs with lines have a program with debug information for the user code of "loop": each line has 16 words, of which
# half are inlined at two levels. They need the cross compiler (tests/packages lines).
#
# The gain of a second core is the wall time of one thread divided by the wall time of two threads. The script prints it
# as "GAIN of LIMIT". The limit is the gain of two programs at once on two cores, which may share a clock or a cache.
# The script prints "-" for a job without -j, and on a machine with one CPU.
#
# A line "N times the user time of decode OPTIONS" compares decode with more options or fields with decode with OPTIONS:
# the sums of nine rounds.
# Results: BUILD_DIR/benchmark/jobs.log.
set -euo pipefail
build=$(realpath "${1:?usage: jobs.sh BUILD_DIR [MILLIONS]}")
millions=${2:-20}
htmtrace=$build/cli/htmtrace
folder=$build/benchmark
log=$folder/jobs.log
core=$(($(nproc) - 1))
# shellcheck source=benchmarks/needs.sh
. "$(dirname "$0")/needs.sh"
needs cli/htmtrace tests/generator/make_core_trace tests/generator/make_loop_trace
mkdir -p "$folder"
trap 'rm -f "$folder"/{random,random.map,loop,loop.map,time,blocks,htm.pages,lines.c,lines.words,lines}' EXIT

say() { echo "$*" | tee -a "$log"; }

# run COMMAND...: runs it with its output to /dev/null. Status 3 is the status of an incomplete trace.
run() {
    local status=0
    "$@" >/dev/null || status=$?
    [[ $status == 0 || $status == 3 ]]
}

# best COMMAND...: prints the least user seconds, the least seconds with the kernel, and the peak KiB.
best() {
    for _ in 1 2 3; do
        run /usr/bin/time -q -o "$folder/time" -f '%U %S %M' taskset -c "$core" "$@"
        cat "$folder/time"
    done | awk '{ all = $1 + $2 } NR == 1 || $1 < user { user = $1 } NR == 1 || all < least { least = all } $3 > kib { kib = $3 }
        END { print user, least, kib }'
}

# seconds CPUS COMMAND...: prints the wall seconds of the command on these CPUs.
seconds() {
    local cpus=$1 begun
    shift
    begun=$(date +%s%N)
    run taskset -c "$cpus" "$@"
    awk "BEGIN { print ($(date +%s%N) - $begun) / 1e9 }"
}

# beside COMMAND...: prints the wall seconds of two programs at once.
beside() {
    local first begun
    begun=$(date +%s%N)
    run taskset -c "$((core - 1))" "$@" &
    first=$!
    run taskset -c "$core" "$@"
    wait "$first"
    awk "BEGIN { print ($(date +%s%N) - $begun) / 1e9 }"
}

# gain COMMAND...: prints the gain of two threads and of two programs. Each of the five rounds runs one thread, two
# threads and two programs, so that other load on the machine affects all three.
gain() {
    for _ in 1 2 3 4 5; do
        echo "$(seconds "$core" "$@" -j 1) $(seconds "$((core - 1)),$core" "$@" -j 2) $(beside "$@" -j 1)"
    done | awk 'NR == 1 || $1 < one { one = $1 } NR == 1 || $2 < two { two = $2 } NR == 1 || $3 < beside { beside = $3 }
        END { printf "%.2f of %.2f", one / two, 2 * one / beside }'
}

# job TRACE NAME COMMAND OPTION...: measures the job, and prints its line of the table.
job() {
    local trace=$1 name=$2 user all kib threads=-
    shift 2
    local one_thread=(-j 1)
    [[ $1 != annotate ]] || one_thread=() # annotate has no option -j
    local command=("$htmtrace" "$@" -q --translation "$folder/$trace.map" --partition 0 "$folder/$trace")
    read -r user all kib < <(best "${command[@]}" "${one_thread[@]}")
    (($(nproc) == 1 || ${#one_thread[@]} == 0)) || threads=$(gain "${command[@]}")
    say "$(awk -v name="$name" -v n="${instructions[$trace]}" -v user="$user" -v all="$all" -v mib=$((kib / 1024)) \
        -v threads="$threads" 'BEGIN {
            printf "%-18s %6.1f %12.1f %10d  %s", name, n / user / 1e6, n / all / 1e6, mib, threads }')"
}

# decode_seconds TRACE OPTION...: prints the user seconds of decode on one core.
decode_seconds() {
    local trace=$1
    shift
    TIMEFORMAT=%U
    { time run taskset -c "$core" "$htmtrace" decode -q -j 1 "$@" --translation "$folder/$trace.map" --partition 0 \
        "$folder/$trace" 2>&3; } 3>&2 2>&1
}

# say_times TRACE BASE_OPTION... to OPTION...: prints the user time of decode with OPTION... divided by the user time with
# BASE_OPTION.... Each of the nine rounds runs both, so that other load on the machine affects both.
say_times() {
    local trace=$1 base=()
    shift
    while [[ $1 != to ]]; do base+=("$1") && shift; done
    shift
    local times
    times=$(for _ in 1 2 3 4 5 6 7 8 9; do
        echo "$(decode_seconds "$trace" "${base[@]}") $(decode_seconds "$trace" "$@")"
    done | awk '{ base += $1; job += $2 } END { printf "%.2f", job / base }')
    say "                   $times times the user time of decode${base[*]:+ ${base[*]}}"
}

# own_pages TRACE: write htm.pages. One process owns the pages that user code accesses in the first million instructions,
# but only those in the 4 GiB below the end of its stack. The function chooses the 4 GiB with the most accesses.
own_pages() {
    local pages busiest
    pages=$("$htmtrace" decode -q --translation "$folder/$1.map" --partition 0 --privilege user --fields dea,dla \
        --instructions 0-1000000 "$folder/$1" || (($? == 3)))
    pages=$(awk -F '\t' '$2 ~ /^[0-9a-f]+$/ { print " " substr($1, 1, 13) "000", substr($2, 1, 13) "000 1000 own" }' <<<"$pages")
    busiest=$(cut -c 2-9 <<<"$pages" | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
    {
        echo "# pid 1 1 50 program"
        echo "# only owner"
        printf '%s00000000-%x00000000 rw-p 00000000 00:00 0 [stack]\n' "$busiest" $((16#$busiest + 1))
        grep "^ $busiest" <<<"$pages" | sort -u
    } >"$folder/htm.pages"
}

# lined_program: makes a program that has the user code of the trace "loop" at the same addresses, with source lines and
# inlined functions. Fails without a cross compiler.
lined_program() {
    local gcc=powerpc64le-linux-gnu-gcc-12
    command -v $gcc >/dev/null || return 1
    # The first word of each address. A prefixed instruction has two words.
    "$htmtrace" decode -q --privilege user --fields ea,op --ea 10000000-1fffffff "$folder/loop" | sort -u -k 1,1 |
        awk 'length($2) == 16 { print $1, substr($2, 1, 8); printf "%s+ %s\n", $1, substr($2, 9) } length($2) == 8' \
            >"$folder/lines.words"
    python3 - "$folder/lines.words" >"$folder/lines.c" <<'PYTHON'
import sys
words = {}
for line in open(sys.argv[1]):
    address, word = line.split()
    words.setdefault(int(address.rstrip("+"), 16) + (4 if address.endswith("+") else 0), word)
calls = []
for chunk in range((max(words) - 0x10000000) // 64 + 1):
    text = ["".join(f".long 0x{words.get(0x10000000 + 64 * chunk + 4 * i, '60000000')}\\n" for i in half)
            for half in (range(8), range(8, 16))]
    print(f"static inline __attribute__((always_inline)) void low{chunk}(void) {{\n  __asm__ volatile(\"{text[1]}\");\n}}")
    print(f"static inline __attribute__((always_inline)) void mid{chunk}(void) {{\n  low{chunk}();\n}}")
    calls.append(f"  __asm__ volatile(\"{text[0]}\");\n  mid{chunk}();")
print("void _start(void) {\n" + "\n".join(calls) + "\n}")
PYTHON
    $gcc -O1 -g -nostdlib -static -Wl,-Ttext=0x10000000 -Wl,--build-id=none "$folder/lines.c" -o "$folder/lines"
}

say "# $(date -u +%FT%TZ) $(uname -m) $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-) load $(cut -d' ' -f1 /proc/loadavg)"
"$build/tests/generator/make_core_trace" power10 $((millions * 25000000)) "$folder/random" "$folder/random.map"
"$build/tests/generator/make_loop_trace" 7 $((millions * 1000000)) "$folder/loop" "$folder/loop.map"
declare -A instructions
for trace in random loop; do
    instructions[$trace]=$({ "$htmtrace" decode --summary -q "$folder/$trace" || (($? == 3)); } |
        awk '$1 == "instructions" { print $2 }')
    say "$trace: ${instructions[$trace]} instructions"
    say "                   M instructions/s            peak MiB  two cores: threads of programs"
    say "                     user  with kernel"
    job $trace text decode
    job $trace qtrace decode --format qtrace -o -
    job $trace disassemble decode --disassemble
    job $trace 'block vectors' decode --format bbv -o -
    job $trace report report
    job $trace 'report --blocks' report --blocks
    job $trace 'report --stacks' report --stacks
    job $trace 'report callgrind' report --format callgrind
    job $trace 'report --heat-map' report --heat-map
    job $trace 'report --timeline' report --timeline
    fields=ea,op,la,dea,dla
    job $trace '--fields' decode --fields $fields
    own_pages $trace
    job $trace '--fields process' decode --fields $fields,process
    say_times "$trace" --fields "$fields" to --fields "$fields,process"
    job $trace '--process' decode --process program
    job $trace 'report --processes' report --processes
    rm "$folder/htm.pages"
done
if ! lined_program; then
    say "lines: skipped: the cross compiler is missing"
    exit 0
fi
say "loop, with the lines of a program of $(wc -l <"$folder/lines.words") words"
elf=(--elf "$folder/lines")
job loop 'text, user' decode --privilege user
job loop 'text --symbols' decode --privilege user --symbols "${elf[@]}"
say_times loop --privilege user to --privilege user --symbols "${elf[@]}"
say_times loop to --symbols "${elf[@]}"
job loop '--fields line' decode --privilege user --fields "$fields,line,inlined" "${elf[@]}"
say_times loop --privilege user --fields "$fields" to --privilege user --fields "$fields,line,inlined" "${elf[@]}"
job loop 'stacks --inlined' report --stacks --inlined --privilege user "${elf[@]}"
job loop 'report lcov' report --format lcov "${elf[@]}"
job loop 'report --lines' report --lines --privilege user "${elf[@]}"
job loop 'annotate' annotate --privilege user --top 100 "${elf[@]}"
