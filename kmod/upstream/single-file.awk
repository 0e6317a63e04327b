# SPDX-License-Identifier: GPL-2.0-or-later
# The driver's files, each header before its source and lower layers first, as one file: prototypes go,
# what they declared becomes static, and each #include is there once. Writes the includes to `includes`.

function drop_comment() {
    held = ""
}

function flush() {
    printf "%s", held
    held = ""
}

function count(text, what) {
    return gsub(what, "", text)
}

# A definition's head, on as few lines as go, aligned at the parenthesis.
function refill(text,    at, indent, line, parts, n, i, width) {
    gsub(/[ \t]*\n[ \t]+/, " ", text)
    if (length(text) <= 100)
        return text
    at = index(text, "(")
    for (indent = ""; length(indent) * 8 + 8 <= at;)
        indent = indent "\t"
    width = length(indent) * 8
    for (; width < at; width++)
        indent = indent " "
    n = split(text, parts, /, /)
    line = parts[1]
    width = length(line)
    for (i = 2; i <= n; i++) {
        if (width + 2 + length(parts[i]) > 98) {
            line = line ",\n" indent parts[i]
            width = at + length(parts[i])
        } else {
            line = line ", " parts[i]
            width += 2 + length(parts[i])
        }
    }
    return line
}

FNR == 1 { flush(); print ""; header = FILENAME ~ /\.h$/ }
/SPDX-License-Identifier/ || /^#define pr_fmt/ { next }
header && (/^#(ifndef|define) HTM_[A-Z]+_H$/ || /^#endif \/\* HTM_[A-Z]+_H/) { next }
/^#include "/ { next }
/^#include </ { print > includes; next }

swallowing {
    if (/;$/) swallowing = 0
    next
}
header && /^[a-z].*htm_[a-z_]+\(/ && !/^static / {
    name = $0
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    shared[name] = 1
    drop_comment()
    if (!/;$/) swallowing = 1
    next
}
header && /^extern / {
    name = $NF
    gsub(/[*;]/, "", name)
    shared[name] = 1
    drop_comment()
    next
}

# Hold a comment back until it is known what follows.
/^\/\*/ { flush(); in_comment = 1 }
in_comment {
    held = held $0 "\n"
    if (/\*\/$/) in_comment = 0
    next
}

!header && /^[a-z]/ {
    name = $0
    sub(/( =.*|\(.*|;$)/, "", name)
    sub(/.*[ *]/, "", name)
    if (name in shared && !/^static /) $0 = "static " $0
}
/^[a-z][^={;]*\(/ && !/;$/ {
    text = $0
    while (count(text, "\\(") > count(text, "\\)") && (getline more) > 0)
        text = text "\n" more
    flush()
    print refill(text)
    next
}
{ flush(); print }
