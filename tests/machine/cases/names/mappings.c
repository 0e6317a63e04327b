// SPDX-License-Identifier: GPL-2.0-or-later
// mappings - maps its own file, executable, more often than the recorder can read the
// records of perf.
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

__attribute__((noinline)) static long mapped_work(void) {
  volatile long sum = 0;
  for (int i = 0; i < 5000; i++) sum += i;
  return sum;
}

int main(int count, char** arguments) {
  const int file = open(arguments[0], O_RDONLY);
  if (count != 1 || file < 0 || mapped_work() == 0) return 1;
  for (int i = 0; i < 1000; i++) {
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) return 2;
  }
  return 0;
}
