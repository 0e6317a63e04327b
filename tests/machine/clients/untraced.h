// SPDX-License-Identifier: GPL-2.0-or-later
// Announcements of untraced time, and functions that cause untraced time.
#pragma once
#include "tests/machine/clients/client.h"

// Waits for an announcement of this kind, up to 5 s.
bool await(struct client* client, int kind);

// True if the trace has PERF_AUX_FLAG_PARTIAL.
bool partial(const struct client* client);

// Prints the client's announcements, to explain a failure.
void show(const struct client* client);

// The hypervisor delays START until give_in(), which waits 150 ms first.
void put_off_start(void);
void give_in(void);
