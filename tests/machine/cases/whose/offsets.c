// SPDX-License-Identifier: GPL-2.0-or-later
// Its assembly has the line of the machine's configuration that states where this kernel keeps the
// running task.
#include <asm/paca.h>
#include <linux/sched.h>
#include <linux/stddef.h>

void offsets(void);

void offsets(void) {
  asm volatile("task %0 %1 %2" ::"i"(offsetof(struct paca_struct, __current)),
               "i"(offsetof(struct task_struct, pid)), "i"(offsetof(struct task_struct, tgid)));
}
