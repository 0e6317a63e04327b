// SPDX-License-Identifier: GPL-2.0-or-later
// hypervisor LINE... - sends each line to the emulated hypervisor and prints the answers, one on
// each line. The exit status is 1 if a line is invalid.
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
