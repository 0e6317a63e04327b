// SPDX-License-Identifier: GPL-2.0-or-later
// The buses of the chips, and the commands that the caches of the vCPUs issue.
//
// Each vCPU has one cache for code and data with SETS lines of 128 bytes. An address determines its
// line, whose state is modified, exclusive, shared or invalid. A miss, a store to a line that
// others may hold, and the eviction of a modified line issue a command on the chip's bus. Accesses
// to devices also issue commands. The caches of vCPUs whose chips are traced snoop each other. All
// are empty when a chip's trace starts. An access counts when it is made, whether or not its
// instruction completes.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "htm.h"

// `oracle_directory` may be NULL: no oracle.
void bus_init(const char* oracle_directory);

// START and STOP of a chip's macro, with its lock held, from any vCPU's thread. In between, the bus
// owns the trace of the macro. bus_chip() returns whether a vCPU is on the macro's chip.
void bus_start(struct htm* htm);
void bus_stop(struct htm* htm);
bool bus_chip(const struct htm* htm, unsigned vcpu);

// Call these from the vCPU's own thread. They cost nothing while its chip is not traced. Real
// addresses are the guest's. An access may cross lines, but not a page.
bool bus_watches(unsigned vcpu);
void bus_fetch(unsigned vcpu, uint64_t real);
void bus_access(unsigned vcpu, uint64_t real, uint64_t size, bool store, bool device);
