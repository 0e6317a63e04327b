// SPDX-License-Identifier: GPL-2.0-or-later
// What a client got, as files that `htmtrace decode` takes.
#pragma once
#include <stdio.h>

#include "tests/machine/clients/client.h"

// DIRECTORY/NAME, to be written; the directory is made. Ends the program when that fails.
FILE* create_in(const char* directory, const char* name);

// Trace and memory map of a target ("n0.p1.c4"), as a recording's folder.
void save_trace(const struct client* client, const char* directory, const char* target);
