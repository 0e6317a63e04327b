// SPDX-License-Identifier: GPL-2.0-or-later
// other TIMES - a program at the same addresses as `arrays`. In a trace, its instructions and
// accesses must not have names of `arrays`. The program alternately computes and sleeps.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBytes = 64 << 10 };
volatile uint8_t foreign_data[kBytes] __attribute__((aligned(65536)));
char foreign_text[4096];

__attribute__((noinline, noclone)) void foreign_work(unsigned from) {
  for (unsigned i = 0; i < 500; i++) foreign_data[(from + i * 128) % kBytes]++;
  memset(foreign_text, (int)from, sizeof(foreign_text));
}

int main(int argc, char** argv) {
  const unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  const struct timespec pause = {.tv_sec = 0, .tv_nsec = 5000000};
  for (unsigned i = 0; i < times; i++) {
    foreign_work(i);
    nanosleep(&pause, NULL);
  }
  return 0;
}
