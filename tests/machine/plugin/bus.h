// SPDX-License-Identifier: GPL-2.0-or-later
// The buses of the chips: which commands the caches of the vCPUs put on them.
//
// Each vCPU has one cache for code and data: SETS lines of 128 bytes, each in the one place that
// its address names, in one of the states modified, exclusive, shared and invalid. A miss, a store
// to a line that others may have, and the eviction of a modified line put a command on the bus of
// the vCPU's chip; so do the accesses to devices. The caches of the vCPUs whose chips are traced
// see each other; all are empty when a chip's trace starts. An access counts when it is made,
// whether or not its instruction completes.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "htm.h"

// `oracle_directory` is NULL when no oracle is wanted.
void bus_init(const char* oracle_directory);

// START and STOP of a chip's macro, with its lock held, from any vCPU's thread. In between, the
// trace of the macro belongs to the bus. bus_chip() tells whether a vCPU is on the macro's chip.
void bus_start(struct htm* htm);
void bus_stop(struct htm* htm);
bool bus_chip(const struct htm* htm, unsigned vcpu);

// From the vCPU's own thread; they cost nothing when its chip is not traced. Real addresses are the
// guest's; an access may cross lines, but no page.
bool bus_watches(unsigned vcpu);
void bus_fetch(unsigned vcpu, uint64_t real);
void bus_access(unsigned vcpu, uint64_t real, uint64_t size, bool store, bool device);
