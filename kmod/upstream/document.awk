# SPDX-License-Identifier: GPL-2.0-or-later
# kmod/ABI as the kernel wants it. With -v part=sysfs: the entries of files, for Documentation/ABI. With
# -v part=text: all else, for Documentation/arch/powerpc, a section for each.

function close_entry() {
    if (in_entry && part == "sysfs") print ""
    in_entry = 0
}

# Indented further than text and after an empty line: as it stands.
function literal() {
    if (last_text ~ /:$/) last_text = last_text ":"
    else last_text = last_text "\n\n::"
}

function put(line) {
    if (pending) print last_text
    last_text = line
    pending = 1
}

/^What:/ {
    close_entry()
    sysfs = /\/sys\//
    wanted = sysfs == (part == "sysfs")
    in_entry = wanted
    described = blank = 0
    if (!wanted) next
    if (part == "sysfs") {
        sub(/^What:[ \t]*/, "What:\t\t")
        print
        next
    }
    title = $0
    sub(/^What:[ \t]*/, "", title)
    next
}
!wanted { next }
part == "sysfs" {
    if (/^[ \t]*$/ && !described) next
    gsub(/, see perf_event_open\(2\) below/, ", see Documentation/arch/powerpc/htm-perf.rst")
    gsub(/ \(see below\)/, "")
    sub(/^Date:[ \t]*/, "Date:\t\t")
    sub(/^Description:[ \t]*/, "Description:\t")
    if (/^Date:/) { print; print "Contact:\tlinuxppc-dev@lists.ozlabs.org"; next }
    if (/^Description:/) described = 1
    if (/^$/) { blank++; next }
    if (blank) print ""
    blank = 0
    print
    next
}
/^Date:/ { next }
!described && !/^Description:/ {
    sub(/^[ \t]+/, "")
    title = title " " $0
    next
}
/^Description:/ {
    described = 1
    sub(/^Description:[ \t]*/, "")
    if (pending) { print last_text; pending = 0; print "" }
    put(title)
    rule = title
    gsub(/./, "-", rule)
    put(rule)
    put("")
    put($0)
    empty = 0
    next
}
{
    sub(/^\t\t/, "")
    if (/^$/) { empty = 1; next }
    if (empty) {
        if (/^[ \t]/ && !in_literal) { literal(); in_literal = 1 }
        else if (!/^[ \t]/) in_literal = 0
        put("")
        empty = 0
    }
    put($0)
}
END { if (pending) print last_text }
