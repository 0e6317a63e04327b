// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the ranges to which callers let the hypervisor write. Detects a driver that passes an
// address and a length beyond its own memory.
//
// A real machine overwrites such memory without a report. Here, three checks find the defect:
//   - A range that is not completely in RAM is a violation.
//   - With `kasan_shadow on` in the configuration, a range is a violation if the guest kernel's
//     KASAN marks a part of it as not allocated (beyond an object, or freed).
//   - The plugin counts the different 4 KiB frames of each operation. A ring has one frame for each
//     4 KiB.
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
