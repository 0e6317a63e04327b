# SPDX-License-Identifier: GPL-2.0-or-later
# htmdump.c, so that it claims a macro while it may have it configured. Anchors only, no text of that file.
/^#include <asm\/io.h>/ { print "#include <asm/htm-claim.h>" }
/^static int +htmconfigure_set\(/ {
    print "/* 1: claimed now, 0: claimed before, or an errno; other values of @val are the caller's. */"
    print "static int htmdump_claim(u64 val)"
    print "{"
    print "\tif (val > HTM_ENABLE)"
    print "\t\treturn -EINVAL;"
    print "\treturn htm_claim(htmtype, nodeindex, nodalchipindex, coreindexonchip,"
    print "\t\t\t HTM_CLAIMANT_HTMDUMP);"
    print "}"
    print ""
    print "static void htmdump_unclaim(void)"
    print "{"
    print "\thtm_unclaim(htmtype, nodeindex, nodalchipindex, coreindexonchip, HTM_CLAIMANT_HTMDUMP);"
    print "}"
    print ""
}
{ print }
/^static int +htmconfigure_set\(/ { unclaim = "ret <= 0 ? claim : val == HTM_DISABLE" }
/^static int +htmstart_set\(/ { unclaim = "ret <= 0 && claim" }
unclaim && /^{/ { print "\tint claim = htmdump_claim(val);" }
unclaim && /^$/ && !claimed++ {
    print "\tif (claim < 0)"
    print "\t\treturn claim;"
    print ""
}
unclaim && /ret = htm_return_check\(rc\);/ {
    print "\tif (" unclaim ")"
    print "\t\thtmdump_unclaim();"
}
/^}/ { unclaim = ""; claimed = 0 }
