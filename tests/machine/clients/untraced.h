// SPDX-License-Identifier: GPL-2.0-or-later
// What a client hears of time that was not traced, and how to make some.
#pragma once
#include "tests/machine/clients/client.h"

// Waits for an announcement of this kind, up to 5 s.
bool await(struct client* client, int kind);

// The trace is flagged.
bool partial(const struct client* client);

// What a failure is about.
void show(const struct client* client);

// The hypervisor puts START off, until give_in(), which comes 150 ms later.
void put_off_start(void);
void give_in(void);
