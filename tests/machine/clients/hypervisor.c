// SPDX-License-Identifier: GPL-2.0-or-later
// hypervisor LINE... - says each line to the emulated hypervisor and prints its answers, one a
// line. Exit status 1 when it does not understand one.
#include <inttypes.h>
#include <stdio.h>

#include "tests/machine/clients/control.h"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    const int64_t answer = control("%s", argv[i]);
    printf("%" PRId64 "\n", answer);
    if (answer == -1) return 1;
  }
  return 0;
}
