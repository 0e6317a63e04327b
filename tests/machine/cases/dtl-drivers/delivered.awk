# SPDX-License-Identifier: GPL-2.0-or-later
# Compares two files of one CPU: the hypervisor's entries and a client's entries. Each line is one entry as
# hexadecimal bytes. In the hypervisor's file, a line that begins with ff ff precedes each log.
#
# Prints the number of written, delivered and missing entries. The logs range from the first to the last log
# with a delivered entry. Fails if the hypervisor did not write a delivered entry, or if the order differs.
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
