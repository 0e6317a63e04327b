# SPDX-License-Identifier: GPL-2.0-or-later
# Two files of one CPU, one entry a line as hexadecimal bytes: what the hypervisor wrote, where a line that
# begins with ff ff stands before each log, and what a client got. Of all logs from the first to the
# last of which it got an entry: how many were written, delivered and missing. Fails if one that was delivered
# was not written, or in another order.
FNR == 1 { file++ }
file == 1 && /^ ff ff/ {
    logs++
    next
}
file == 1 {
    place[$0] = ++entries
    log_of[entries] = logs
    size[logs]++
    next
}
{
    delivered++
    if (!($0 in place) || place[$0] <= before) {
        print "not written by the hypervisor, or out of order:" $0
        wrong = 1
        next
    }
    before = place[$0]
    last = log_of[before]
    if (!first) first = last
}
END {
    for (i = first; first && i <= last; i++) written += size[i]
    print "written", written + 0, "delivered", delivered + 0, "missing", written - delivered
    exit wrong
}
