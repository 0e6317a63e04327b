// SPDX-License-Identifier: GPL-2.0-or-later
// Records of a bus trace in the POWER9 layout, the last one that is public. Two engines write lines
// of 128 bytes in turn, each its own commands: those of the even ports or of the odd ones.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "bus_command.h"
#include "htm.h"

// A machine address that can stand in a record has 48 bits.
void nest_trace_start(struct htm* htm, uint64_t tick);
// False: not in the trace, because the engine's lines are full.
bool nest_trace_command(struct htm* htm, const struct bus_command* command);
void nest_trace_stop(struct htm* htm, uint64_t tick);
