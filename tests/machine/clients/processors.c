// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "tests/machine/clients/processors.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "tests/machine/clients/client.h"

bool try_stay_on(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (int i = 0; i < CPU_SETSIZE; i++) {
    if (cpu == kAnyCpu || cpu == i) CPU_SET(i, &cpus);
  }
  return sched_setaffinity(0, sizeof(cpus), &cpus) == 0;
}

void stay_on(int cpu) {
  if (!try_stay_on(cpu)) die("affinity");
}

void set_online(int cpu, bool online) {
  char path[64];
  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
  FILE* file = fopen(path, "w");
  if (file == NULL || fprintf(file, "%d", online) < 0 || fclose(file) != 0) die(path);
}

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
