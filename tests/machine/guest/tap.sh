# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# TAP for guest scripts: `. /share/tap.sh`, then plan, check, ok, not_ok, skip.

tap_count=0

plan() {
    echo "1..$1"
}

ok() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $*"
}

not_ok() {
    tap_count=$((tap_count + 1))
    echo "not ok $tap_count - $*"
}

# Some kernels have the driver built in, see kmod/upstream.
htm_is_present() {
    [ -d /sys/bus/event_source/devices/htm ]
}

load_htm() {
    htm_is_present || insmod /share/modules/htm.ko "$@"
}

# diagnose FILE: show a file's text as TAP comments.
diagnose() {
    sed 's/^/#   /' "$1"
}

# check DESCRIPTION COMMAND...: ok when the command succeeds; what a failing command said is shown.
check() {
    tap_description=$1
    shift
    if "$@" >/tmp/tap.output 2>&1; then
        ok "$tap_description"
        return 0
    else
        tap_status=$?
    fi
    not_ok "$tap_description"
    echo "#   command: $*"
    echo "#   exit status: $tap_status"
    diagnose /tmp/tap.output
    return 1
}

# refuses DESCRIPTION STATUS COMMAND...: ok when the command ends with just that status. What it
# said stays in /tmp/tap.output for further checks.
refuses() {
    tap_description=$1 tap_expected=$2
    shift 2
    "$@" >/tmp/tap.output 2>&1
    tap_status=$?
    if [ "$tap_status" = "$tap_expected" ]; then
        ok "$tap_description"
        return 0
    fi
    not_ok "$tap_description"
    echo "#   command: $*"
    echo "#   exit status: $tap_status, expected: $tap_expected"
    diagnose /tmp/tap.output
    return 1
}

# said DESCRIPTION TEXT: ok when the last command's output has this text.
said() {
    if grep -qF -- "$2" /tmp/tap.output; then
        ok "$1"
        return 0
    fi
    not_ok "$1"
    echo "#   missing in the output: $2"
    diagnose /tmp/tap.output
    return 1
}

skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count # SKIP $*"
}

# monitor COMMAND...: let the host give QEMU's monitor this command; returns when it was done, which the
# host says on the script's terminal.
monitor() {
    echo "#monitor: $*"
    read -r _ </dev/hvc1
}
