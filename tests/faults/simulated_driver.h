// SPDX-License-Identifier: GPL-2.0-or-later
// The htm PMU with htmtrace's driver, as far as `htmtrace record` needs it on a machine without it
// (kmod/ABI). $FAULTS_PMU is a folder in place of /sys/bus/event_source/devices, and the files
// `trace` and `map` in it are what each event delivers. An event is a file in memory.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Reads the environment.
void simulated_driver_begin(void);

// Returns `path`, or the path of the same file in $FAULTS_PMU, or in $FAULTS_REGISTRY instead of
// /run/htmtrace and /tmp/htmtrace-UID.
const char* simulated_path(const char* path);

// perf_event_open(2). Returns -1 and errno, or a descriptor.
int simulated_open(const void* attr);
bool is_simulated(int fd);
void simulated_close(int fd);
int simulated_ioctl(int fd, unsigned long request);
ssize_t simulated_read(int fd, void* value, size_t size);
void* simulated_map(int fd, size_t size, off_t offset);
