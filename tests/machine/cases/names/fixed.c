// SPDX-License-Identifier: GPL-2.0-or-later
// fixed - a static program whose function and array are named by the macro NAME. Its loop has TIMES
// turns: the oracle cannot distinguish programs with the same code. Executes the program of its
// arguments.
#include <stddef.h>
#include <unistd.h>

#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)
#define ARRAY NAMED(NAME, _array)
#define WORK NAMED(NAME, _work)

volatile long ARRAY[4096];

__attribute__((noinline)) static void WORK(void) {
  for (size_t i = 0; i < TIMES; i++) ARRAY[i % 4096] += (long)i;
}

int main(int count, char** arguments) {
  WORK();
  if (count > 1) execv(arguments[1], arguments + 1);
  return count > 1;
}
