// SPDX-License-Identifier: GPL-2.0-or-later
// Is what a client got what the hypervisor has?
#pragma once
#include <stdbool.h>

#include "tests/machine/clients/client.h"

// The trace, byte for byte, and as long as the driver says. `macro` is type, node, chip and core as
// the hypervisor is asked for them. To be asked while the macro is configured.
bool trace_equal(const struct client* client, const char* macro);

// The memory map, each entry.
bool map_equal(const struct client* client);

// The driver has delivered one trace and one memory map, and has nothing else to say.
bool delivered(const struct client* client);
