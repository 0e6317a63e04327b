// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's timebase, learnt from what the guest reads: the emulator does not show it to plugins.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// The guest has just read this value.
void dtl_clock_learn(uint64_t timebase);

// Something has been learnt; and so much that no more is needed.
bool dtl_clock_known(void);
bool dtl_clock_settled(void);

// Never later than the guest's own timebase; earlier by less than the best reading took. 0 when
// nothing is known.
uint64_t dtl_clock_now(void);

uint64_t dtl_clock_host_ns(void);
