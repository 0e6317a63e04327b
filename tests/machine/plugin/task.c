// SPDX-License-Identifier: GPL-2.0-or-later
#include "task.h"

#include "config.h"
#include "cpu.h"
#include "guest_memory.h"

// The kernel maps the whole memory, beginning with guest real address 0, at this address.
#define KERNEL_MEMORY (UINT64_C(0xc) << 60)

static uint64_t read_kernel(uint64_t address, unsigned bytes, uint64_t msr) {
  const uint64_t value = guest_read(address - KERNEL_MEMORY, bytes);
  return (msr & MSR_LE) ? __builtin_bswap64(value) >> (64 - 8 * bytes) : value;
}

struct task task_of_user(unsigned vcpu, uint64_t msr) {
  const struct task_offsets* offsets = &config.task;
  const uint64_t task = read_kernel(cpu_paca(vcpu, msr) + offsets->current, 8, msr);
  return (struct task){.process = (uint32_t)read_kernel(task + offsets->tgid, 4, msr),
                       .thread = (uint32_t)read_kernel(task + offsets->pid, 4, msr)};
}
