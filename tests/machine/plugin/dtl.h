// SPDX-License-Identifier: GPL-2.0-or-later
// The dispatch trace log: the hypervisor's account of when and why it ran each virtual processor.
//
// With `dtl on` the plugin answers H_REGISTER_VPA itself, keeps the dispatch counter of each
// virtual processor area (VPA), and writes a log entry at each dispatch that the partition asked
// for. What it does where PAPR is silent is in README.md.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Why a virtual processor had stopped: which bit of the enable mask lets the entry be written.
enum dtl_kind { kDtlCede = 1, kDtlPreempt = 2, kDtlFault = 4 };

// Reason codes (kernel: arch/powerpc/include/asm/dtl.h).
enum dtl_dispatch_reason {
  kDispatchExternal = 0,
  kDispatchProd = 2,
  kDispatchDecrementer = 3,
  kDispatchConferred = 6,
  kDispatchTimeSlice = 7,
  kDispatchPageFault = 8,
  kDispatchDoorbell = 10,
};
enum dtl_preempt_reason {
  kPreemptCede = 2,
  kPreemptConfer = 3,
  kPreemptTimeSlice = 4,
  kPreemptPageFault = 6,
};

// One dispatch, as the log has it; times in ticks of the timebase.
struct dtl_dispatch {
  enum dtl_kind kind;
  uint8_t dispatch_reason, preempt_reason;
  uint16_t processor;
  uint32_t enqueue_to_dispatch, ready_to_enqueue, waiting_to_ready;
  uint64_t timebase, fault_address, srr0, srr1;
};

// With the directory for the oracles, or NULL. Call once, after the configuration was read.
void dtl_log_create(const char* directory);

// H_REGISTER_VPA with its three arguments, from `vcpu`.
int64_t dtl_register_vpa(unsigned vcpu, uint64_t flags, uint64_t processor, uint64_t address);

// The VPA's dispatch counter: odd while the virtual processor does not run.
void dtl_stopped(unsigned vcpu);

// Counts the dispatch, and logs it when the partition asked for its kind. `dispatch->timebase` is
// moved on when it is not behind that of the vCPU's last entry. Only from the vCPU's own thread.
void dtl_dispatched(unsigned vcpu, struct dtl_dispatch* dispatch);

// "dtl_dispatches VCPU N" and "dtl_entries VCPU N"; closes the oracles.
void dtl_report(FILE* file);
