// SPDX-License-Identifier: GPL-2.0-or-later
// work - a program with loops, switches, recursion, inlined functions and code that never runs. Its
// counts by source line are compared with those of gcov. A comment "-O2:" explains why optimized
// code has another count at the line, or none.
#include <stdio.h>
#include <stdlib.h>

static int table[64];
static unsigned seed = 7;

static unsigned next_random(void) {
  seed = seed * 1103515245u + 12345u;
  return seed >> 16;
}

static int clamp(int value, int low, int high) {
  if (value < low) return low;
  if (value > high) {
    return high;
  }
  return value;
}

static inline int twice(int value) {
  return value + value;
}

__attribute__((noinline)) static int fib(int n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static int choose(int kind, int value) {
  switch (kind) {
    case 0:
      return value + 1;
    case 1:
      value *= 3;
      break;
    case 2:
      return clamp(value, -10, 10);
    case 3:
      value = twice(value) + twice(value + 1);
      break;
    case 4:
      value ^= 0x55;
      break;
    case 5:
      value -= 9;
      __attribute__((fallthrough));
    case 6:
      value /= 3;
      break;  // -O2: shared with the return of clamp()
    default:
      return -1;
  }
  return value;
}

__attribute__((noinline)) static int loops(int n) {
  int sum = 0;                   // -O2: a constant
  for (int i = 0; i < n; i++) {  // -O2: vectorized
    sum += i & 3;                // -O2: vectorized
  }
  for (int i = 0; i < n; i++) sum ^= table[i & 63];  // -O2: vectorized
  int i = n;
  while (i > 0) {  // -O2: the first test is known
    i -= 3;
    if (i == 5) continue;  // -O2: no code
    sum += i;
  }
  do {
    sum--;
  } while (sum > 100 && sum % 7 != 0);
  for (int a = 0; a < 3; a++)  // -O2: the first test is known
    for (int b = 0; b < n; b++)
      if ((a ^ b) & 1)
        sum += a * b;  // -O2: vectorized, both ways are computed
      else
        sum -= b;  // -O2: vectorized, both ways are computed
  return sum;
}

static int compare(const void* a, const void* b) {
  const int left = *(const int*)a, right = *(const int*)b;
  return left < right ? -1 : left > right;
}

static int never(int value) {
  if (value) return 3;
  return value * 7;  // -O2: gcov has no block for it
}

int main(int argc, char** argv) {
  (void)argv;
  int total = 0;
  for (int i = 0; i < 64; i++) table[i] = (int)(next_random() % 1000);
  for (int i = 0; i < 200; i++) {  // -O2: the first test is known
    int kind = (int)(next_random() % 7);
    total += choose(kind, i - 100);
    if (i % 50 == 49 || total < -100000) total += fib(8);
  }
  total += loops(37);
  qsort(table, 64, sizeof(table[0]), compare);
  for (int i = 1; i < 64; i++) {
    if (table[i - 1] > table[i]) {
      puts("not sorted");
      return 1;
    }
  }
  if (argc > 5) total += never(total);
  printf("%d\n", total);
  exit(total == 12345);
}
