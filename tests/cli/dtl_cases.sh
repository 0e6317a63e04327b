# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Shared parts of the command line tests of `htmtrace dtl`: an empty folder, and checks of commands. A failed check
# prints command, stdout and stderr. Source this file with the arguments HTMTRACE MAKE_DISPATCH_LOG.
htmtrace=$(realpath "${1:?usage: ${0##*/} HTMTRACE MAKE_DISPATCH_LOG}")
make_dispatch_log=$(realpath "${2:?usage: ${0##*/} HTMTRACE MAKE_DISPATCH_LOG}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# expect NAME STATUS TEXT ARGUMENT...: checks the status, an empty stdout, and TEXT on stderr.
expect() {
    local name=$1 wanted=$2 text=$3 status
    shift 3
    "$htmtrace" dtl "$@" >stdout 2>stderr </dev/null
    status=$?
    if [[ $status == "$wanted" && ! -s stdout ]] && grep -qF -- "$text" stderr; then
        echo "ok - $name"
        return
    fi
    failures=$((failures + 1))
    echo "not ok - $name: status $status, expected $wanted and: $text"
    echo "  command: htmtrace dtl $*"
    sed 's/^/  stdout: /' stdout
    sed 's/^/  stderr: /' stderr
}

# check NAME COMMAND...
check() {
    local name=$1
    shift
    if "$@" >check.log 2>&1; then
        echo "ok - $name"
        return
    fi
    failures=$((failures + 1))
    echo "not ok - $name"
    sed 's/^/  /' check.log stderr
}

# reads STATUS OPTION...: reads the recording with these options into the file stdout.
reads() {
    local wanted=$1
    shift
    "$htmtrace" dtl --input "$@" >stdout 2>stderr
    [[ $? == "$wanted" ]]
}
