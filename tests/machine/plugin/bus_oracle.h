// SPDX-License-Identifier: GPL-2.0-or-later
// The oracle of a bus: a file of its commands in another format than the trace. Its code shares
// nothing with the trace encoder.
//
// DIRECTORY/oracle.nest.nN.pP, little-endian, no padding:
//   8 bytes   "htmobus1", u16 node, u16 chip
//   then items, each beginning with its kind, one byte:
//   'S'  a START: u64 tick
//   'C'  a command that went into the trace: u8 operation (enum bus_operation), u8 code of its
//        response, u8 core, u8 transaction, u64 guest real address, u64 machine address, u64 tick
//   'E'  the STOP: u64 commands that were not traced because the buffer was full
#pragma once
#include "bus_command.h"

struct oracle_file;

// Each function ends the program if the file cannot be written.
struct oracle_file* bus_oracle_open(const char* directory, unsigned node, unsigned chip);
void bus_oracle_start(struct oracle_file* oracle, uint64_t tick);
void bus_oracle_command(struct oracle_file* oracle, const struct bus_command* command);
void bus_oracle_stop(struct oracle_file* oracle, uint64_t lost_commands);
