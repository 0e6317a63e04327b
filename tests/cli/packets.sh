# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Packets of gdb's remote protocol, for tests of replay.

# packet PAYLOAD...: each payload with its frame and checksum.
packet() {
    local payload sum i
    for payload in "$@"; do
        sum=0
        for ((i = 0; i < ${#payload}; i++)); do sum=$((sum + $(printf %d "'${payload:i:1}"))); done
        printf '$%s#%02x' "$payload" $((sum % 256))
    done
}

# monitor_packets COMMAND...: the packets of gdb's monitor commands, and the end of the session.
monitor_packets() {
    local command
    for command in "$@"; do packet "qRcmd,$(printf %s "$command" | od -An -v -tx1 | tr -d ' \n')"; done
    packet k
}

# monitor_output: what gdb prints of the replies on standard input.
monitor_output() {
    sed 's/#../\n/g; s/[+]*\$//g; s/+$//' | sed -n 's/^O\(..*\)/\1/p' | xxd -r -p
}
