// SPDX-License-Identifier: GPL-2.0-or-later
// Registers of the vCPU that runs the calling thread, in host byte order.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define MSR_PR (UINT64_C(1) << 14)  // user mode
#define MSR_LE UINT64_C(1)

// Called when the vCPU is created, from its own thread.
void cpu_init(unsigned vcpu);

uint64_t cpu_msr(unsigned vcpu);
// Returns PIDR, which identifies the process whose memory user code sees.
uint64_t cpu_process(unsigned vcpu, uint64_t msr);

// Returns SPRG1: the effective address of the area that the kernel of a partition keeps for this
// processor.
uint64_t cpu_paca(unsigned vcpu, uint64_t msr);

// Reads a general register; `msr` states the byte order.
uint64_t cpu_read(unsigned vcpu, unsigned number, uint64_t msr);
void cpu_write(unsigned vcpu, unsigned number, uint64_t value, uint64_t msr);
