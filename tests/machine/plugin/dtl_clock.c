// SPDX-License-Identifier: GPL-2.0-or-later
#include "dtl_clock.h"

#include <stdatomic.h>
#include <time.h>

// QEMU's pseries machine counts 512 MHz of the host's monotonic clock, from its own start.
enum { kTicks = 64, kNanoseconds = 125, kEnoughReadings = 20000 };

static _Atomic int64_t start = INT64_MIN;  // timebase at host time 0
static _Atomic unsigned readings;

uint64_t dtl_clock_host_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int64_t host_ticks(void) {
  return (int64_t)(dtl_clock_host_ns() * kTicks / kNanoseconds);
}

// A reading is seen slightly later than it was made, so the largest difference is the most
// accurate.
void dtl_clock_learn(uint64_t timebase) {
  const int64_t seen = (int64_t)timebase - host_ticks();
  int64_t best = start;
  while (seen > best && !atomic_compare_exchange_weak(&start, &best, seen)) {
  }
  readings++;
}

bool dtl_clock_known(void) {
  return readings != 0;
}

bool dtl_clock_settled(void) {
  return readings > kEnoughReadings;
}

uint64_t dtl_clock_now(void) {
  return dtl_clock_known() ? (uint64_t)(start + host_ticks()) : 0;
}
