// SPDX-License-Identifier: GPL-2.0-or-later
// Events used with an htm event: members of its group, probes, and definitions that older headers
// lack.
#pragma once
#include <linux/perf_event.h>
#include <stdint.h>

// attr.aux_action (Linux 6.13).
enum { kStartPaused = 1, kPause = 2, kResume = 4 };
void set_aux_action(struct perf_event_attr* attr, uint32_t action);

// Returns attr.type of a PMU.
unsigned pmu_type(const char* name);

// Calls perf_event_open(2). Returns the descriptor, or -errno. `group` may be -1.
int open_event(const struct perf_event_attr* attr, int pid, int cpu, int group);

struct perf_event_attr dummy_attr(void);
// A sample for each execution of a kernel function.
struct perf_event_attr kprobe_attr(const char* function);
// A sample for each execution of an instruction of this program.
struct perf_event_attr uprobe_attr(const void* instruction);

// Returns 0 or -errno.
int event_ioctl(int event, unsigned long request, unsigned long argument);
