// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's timebase, derived from the guest's reads, because the emulator does not show it to
// plugins.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// The guest just read this value.
void dtl_clock_learn(uint64_t timebase);

// Whether a reading is known, and whether enough readings are known.
bool dtl_clock_known(void);
bool dtl_clock_settled(void);

// Never later than the guest's own timebase, and earlier by at most the delay of the best reading.
// 0 without a reading.
uint64_t dtl_clock_now(void);

uint64_t dtl_clock_host_ns(void);
