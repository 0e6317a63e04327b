// SPDX-License-Identifier: GPL-2.0-or-later
// Records of a bus trace in the POWER9 layout, the latest public layout. Two engines alternate
// lines of 128 bytes. One engine writes the commands of even ports, the other engine those of odd
// ports.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "bus_command.h"
#include "htm.h"

// A record has 48 bits for a machine address.
void nest_trace_start(struct htm* htm, uint64_t tick);
// Returns false if the engine's lines are full, so that the trace lacks the command.
bool nest_trace_command(struct htm* htm, const struct bus_command* command);
void nest_trace_stop(struct htm* htm, uint64_t tick);
