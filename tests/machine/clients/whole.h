// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the received data with the hypervisor's data.
#pragma once
#include <stdbool.h>

#include "tests/machine/clients/client.h"

// Compares each byte of the trace, and the size that the driver states. `macro` is type, node, chip
// and core in the hypervisor's syntax. Requires a configured macro.
bool trace_equal(const struct client* client, const char* macro);

// Compares each entry of the memory map.
bool map_equal(const struct client* client);

// The driver has delivered one trace and one memory map, and makes no other announcement.
bool delivered(const struct client* client);
