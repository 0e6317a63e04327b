// SPDX-License-Identifier: GPL-2.0-or-later
// The dispatch trace log: when and why the hypervisor ran each virtual processor.
//
// With `dtl on` the plugin answers H_REGISTER_VPA itself, and keeps the dispatch counter of each
// virtual processor area (VPA). It writes a log entry at each dispatch that the partition
// requested. README.md describes the behavior that PAPR leaves open.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Why a virtual processor stopped: the bit of the enable mask that permits the entry.
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

// One dispatch, as in the log. Times are in ticks of the timebase.
struct dtl_dispatch {
  enum dtl_kind kind;
  uint8_t dispatch_reason, preempt_reason;
  uint16_t processor;
  uint32_t enqueue_to_dispatch, ready_to_enqueue, waiting_to_ready;
  uint64_t timebase, fault_address, srr0, srr1;
};

// `directory` receives the oracles, and may be NULL. Call this once, after reading the
// configuration.
void dtl_log_create(const char* directory);

// H_REGISTER_VPA with its three arguments, from `vcpu`.
int64_t dtl_register_vpa(unsigned vcpu, uint64_t flags, uint64_t processor, uint64_t address);

// The VPA's dispatch counter: odd while the virtual processor does not run.
void dtl_stopped(unsigned vcpu);

// Counts the dispatch, and logs it if the partition requested its kind. Advances
// `dispatch->timebase` if it is not later than the vCPU's last entry. Call this only from the
// vCPU's own thread.
void dtl_dispatched(unsigned vcpu, struct dtl_dispatch* dispatch);

// Prints "dtl_dispatches VCPU N" and "dtl_entries VCPU N", and closes the oracles.
void dtl_report(FILE* file);
