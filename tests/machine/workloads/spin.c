// SPDX-License-Identifier: GPL-2.0-or-later
// spin first|second CPU SECONDS - computes on one virtual processor as a task of this name. Each
// task executes its own code, so an address identifies the task.
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

// Runs for some milliseconds between two reads of the clock.
enum { kRounds = 4000000 };

// The Makefile sets the addresses of these functions.
__attribute__((noinline, section(".first"))) static void first(void) {
  for (volatile uint32_t i = 0; i < kRounds; i++) continue;
}
__attribute__((noinline, section(".second"))) static void second(void) {
  for (volatile uint32_t i = 0; i < kRounds; i++) continue;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fputs("usage: spin first|second CPU SECONDS\n", stderr);
    return 2;
  }
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET((size_t)atoi(argv[2]), &cpus);
  if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0 || prctl(PR_SET_NAME, argv[1]) != 0) {
    perror("spin");
    return 1;
  }
  const time_t end = time(NULL) + atoi(argv[3]);
  while (time(NULL) < end) {
    if (strcmp(argv[1], "first") == 0)
      first();
    else
      second();
  }
  return 0;
}
