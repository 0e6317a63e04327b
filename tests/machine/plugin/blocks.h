// SPDX-License-Identifier: GPL-2.0-or-later
// The blocks that H_HTM returns: CAPABILITIES, and the lists of STATUS, DUMP_SYSMEM_CONF and
// DUMP_SYSPROC_CONF. Fields without a public description are listed in README.md.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "h_htm.h"

void blocks_capabilities(uint8_t answer[0x80]);

size_t blocks_entry_bytes(enum htm_operation operation, enum htm_type type);

// Writes a header and as many entries as fit `length`, beginning with entry `iterator`, to the
// guest's `address`. The caller has checked the range. Returns the status of the call.
int64_t blocks_answer(enum htm_operation operation, enum htm_type type, uint64_t address,
                      uint64_t length, uint64_t iterator);
