# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# needs PROGRAM...: ends the script unless these programs are in $build, a release build with tests, and
# /usr/bin/time exists.

needs() {
    local program
    if [[ ! -x /usr/bin/time ]]; then
        echo "${0##*/}: cannot find /usr/bin/time" >&2
        echo "  hint: apt-get install time" >&2
        exit 1
    fi
    for program in "$@"; do
        [[ ! -x $build/$program ]] || continue
        echo "${0##*/}: $build has no $program" >&2
        echo "  hint: cmake --preset release -G Ninja -DBUILD_TESTING=ON && cmake --build build-release" >&2
        exit 1
    done
}
