// SPDX-License-Identifier: GPL-2.0-or-later
// Saves the received data as files for `htmtrace decode`.
#pragma once
#include <stdio.h>

#include "tests/machine/clients/client.h"

// Opens DIRECTORY/NAME for writing, and creates the directory. Ends the program on failure.
FILE* create_in(const char* directory, const char* name);

// Saves trace and memory map of a target ("n0.p1.c4") as the folder of a recording.
void save_trace(const struct client* client, const char* directory, const char* target);
