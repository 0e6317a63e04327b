// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the ranges to which callers let the hypervisor write. Detects a driver that passes an
// address and a length beyond its own memory.
//
// On a real machine such memory is overwritten without a word. Here three things tell:
//   - a range that is not wholly in RAM is a violation;
//   - with `kasan_shadow on` in the configuration, a range of which the guest kernel's own KASAN
//     says that not all of it is allocated is a violation: past an object, or freed;
//   - the 4 KiB frames that an operation was ever given are counted: a ring of N bytes has N /
//   4096.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "h_htm.h"

// Records the range of a call. Returns false if it is not entirely in RAM. The report lists
// violations.
bool ranges_given(enum htm_operation operation, uint64_t address, uint64_t length);

// Number of different frames passed to an operation since the start or ranges_clear().
uint64_t ranges_frames(enum htm_operation operation);
// The longest range of one call, in bytes.
uint64_t ranges_longest(enum htm_operation operation);
void ranges_clear(void);
