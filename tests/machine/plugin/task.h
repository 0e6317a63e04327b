// SPDX-License-Identifier: GPL-2.0-or-later
// The process and the thread that a vCPU runs, from the memory of the guest's kernel.
#pragma once
#include <stdint.h>

struct task {
  uint32_t process, thread;  // as in /proc/PROCESS/task/THREAD
};

// Requires the key `task` of the configuration. Call it when the vCPU is in user mode, with its
// MSR.
struct task task_of_user(unsigned vcpu, uint64_t msr);
