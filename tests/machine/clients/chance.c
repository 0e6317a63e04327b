// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/machine/clients/chance.h"

#include "tests/machine/clients/control.h"

static uint64_t state;

void chance_begin(uint64_t seed, int process) {
  // The state must never be zero, and must differ for successive processes.
  state = (seed + (uint64_t)process) * UINT64_C(0x9e3779b97f4a7c15) | 1;
  for (int i = 0; i < 8; i++) draw(2);
}

unsigned draw(unsigned count) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)(state >> 33) % count;
}

void make_trouble(unsigned answers) {
  static const char* const operations[] = {"STATUS",      "CONFIGURE", "START",           "STOP",
                                           "DECONFIGURE", "DUMP_DATA", "DUMP_SYSMEM_CONF"};
  static const char* const names[kAllAnswers] = {"H_BUSY",
                                                 "H_BUSY",
                                                 "H_LONG_BUSY_ORDER_1_MSEC",
                                                 "H_LONG_BUSY_ORDER_1_MSEC",
                                                 "H_LONG_BUSY_ORDER_10_MSEC",
                                                 "H_LONG_BUSY_ORDER_100_MSEC",
                                                 "H_HARDWARE",
                                                 "77",
                                                 "H_PARAMETER",
                                                 "H_P2",
                                                 "H_AUTHORITY",
                                                 "H_RESOURCE",
                                                 "H_FUNCTION",
                                                 "-999"};
  const char* operation = operations[draw(7)];
  const int64_t calls = control("calls %s", operation);
  // Clear a plan that accepts no more entries. The counts of calls then start again.
  if (control("%s nth=%d %s", operation, (int)calls + 1 + (int)draw(3), names[draw(answers)]) !=
      0) {
    control("clear");
  }
}

void count(uint64_t* what) {
  __atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}
