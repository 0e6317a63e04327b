// SPDX-License-Identifier: GPL-2.0-or-later
// arrays - accesses arrays, with numbers of accesses that are known by construction. The program
// has global arrays of 4 KiB, 256 KiB and 4 MiB, and arrays on the heap and on the stack. Each
// function makes the accesses that its comment states. The compiler adds no accesses, because other
// values stay in registers. At the end the program sleeps, so that the recorder can read its memory
// maps.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { kLine = 128, kSmall = 4096, kMiddle = 256 << 10, kLarge = 4 << 20, kRounds = 64 };

typedef volatile uint64_t Word;
typedef volatile uint8_t Byte;

Byte small_array[kSmall] __attribute__((aligned(65536))) = {1};
Byte middle_array[kMiddle] __attribute__((aligned(65536))) = {1};
Byte large_array[kLarge] __attribute__((aligned(65536)));

#define NOINLINE __attribute__((noinline, noclone))

// `count` loads or stores, distributed over all lines of the small array.
#define SMALL_READER(name)                                                  \
  NOINLINE void name(unsigned count) {                                      \
    for (unsigned i = 0; i < count; i++) (void)small_array[i * 8 % kSmall]; \
  }
SMALL_READER(rd_small)
SMALL_READER(rd_second)
SMALL_READER(rd_third)
SMALL_READER(rd_fourth)
SMALL_READER(rd_seldom)
NOINLINE void wr_small(unsigned count) {
  for (unsigned i = 0; i < count; i++) small_array[i * 8 % kSmall] = (uint8_t)i;
}

// A load of each line.
NOINLINE void rd_middle(void) {
  for (unsigned at = 0; at < kMiddle; at += kLine) (void)middle_array[at];
}
// A store to each line.
NOINLINE void wr_middle(void) {
  for (unsigned at = 0; at < kMiddle; at += kLine) middle_array[at] = 2;
}
// A store to each 64 KiB.
NOINLINE void wr_large(void) {
  for (unsigned at = 0; at < kLarge; at += 65536) large_array[at] = 3;
}
// A load of each line of the first 128 KiB.
NOINLINE void rd_large(void) {
  for (unsigned at = 0; at < kLarge / 32; at += kLine) (void)large_array[at];
}
// A store to each line.
NOINLINE void wr_heap(Byte* heap, unsigned bytes) {
  for (unsigned at = 0; at < bytes; at += kLine) heap[at] = 4;
}
// A store to each line of an array on its stack.
NOINLINE void wr_stack(void) {
  Byte array[16 << 10];
  for (unsigned at = 0; at < sizeof(array); at += kLine) array[at] = 5;
}

int main(void) {
  Byte* heap = malloc(64 << 10);
  if (heap == NULL) return 1;
  for (unsigned round = 0; round < kRounds; round++) {
    rd_small(160);
    rd_second(118);
    rd_third(111);
    rd_fourth(80);
    wr_small(40);
    if (round % 32 == 0) rd_seldom(66);
  }
  rd_middle();
  wr_middle();
  wr_large();
  rd_large();
  wr_heap(heap, 64 << 10);
  wr_stack();
  free((void*)heap);
  if (write(3, "stop\n", 5) != 5) return 1;
  pause();
  return 0;
}
