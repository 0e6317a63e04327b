// SPDX-License-Identifier: GPL-2.0-or-later
// The location of the partition's memory in the machine.
//
// The guest's RAM is divided into blocks. The blocks are scattered over the machine real address
// space, among the blocks of other partitions. The map is a fixed function of the RAM size and the
// configuration.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { kSysmemEntryBytes = 32 };

// Machine real address of a guest (logical) real address. A device address outside RAM maps to an
// address outside all blocks.
uint64_t machine_address(uint64_t logical);

size_t memory_map_entries(void);

// Writes entry `index` in the big-endian form of DUMP_SYSMEM_CONF.
void memory_map_entry(size_t index, uint8_t entry[kSysmemEntryBytes]);
