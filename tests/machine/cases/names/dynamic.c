// SPDX-License-Identifier: GPL-2.0-or-later
// dynamic - a position-independent program with a library. Writes the addresses of its functions
// and arrays to the file "addresses".
#include <stdio.h>

extern volatile long shared_array[];
void shared_work(void);

volatile long own_array[512];

__attribute__((noinline)) static void own_work(void) {
  for (int i = 0; i < 5000; i++) own_array[i % 512] += i;
}

int main(int count, char** arguments) {
  FILE* const file = fopen(arguments[count - 1], "w");
  if (file == NULL) return 1;
  own_work();
  shared_work();
  fprintf(file, "own_work %016lx\nown_array %016lx\n", (unsigned long)own_work,
          (unsigned long)own_array);
  fprintf(file, "shared_work %016lx\nshared_array %016lx\n", (unsigned long)shared_work,
          (unsigned long)shared_array);
  return fclose(file);
}
