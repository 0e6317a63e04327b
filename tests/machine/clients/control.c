// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/machine/clients/control.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t control(const char* format, ...) {
  char line[kControlBytes] = "";
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  if (length < 0 || length >= kControlBytes) {
    fprintf(stderr, "control: too long: %s\n", line);
    exit(1);
  }
  uint64_t words[kControlBytes / 8];
  memcpy(words, line, sizeof(words));
  // The number is that of tests/machine/plugin/control.h.
  register uint64_t r3 __asm__("r3") = 0xff00;
  register uint64_t r4 __asm__("r4") = words[0];
  register uint64_t r5 __asm__("r5") = words[1];
  register uint64_t r6 __asm__("r6") = words[2];
  register uint64_t r7 __asm__("r7") = words[3];
  register uint64_t r8 __asm__("r8") = words[4];
  register uint64_t r9 __asm__("r9") = words[5];
  register uint64_t r10 __asm__("r10") = words[6];
  register uint64_t r11 __asm__("r11") = words[7];
  __asm__ volatile("sc 1"
                   : "+r"(r3)
                   : "r"(r4), "r"(r5), "r"(r6), "r"(r7), "r"(r8), "r"(r9), "r"(r10), "r"(r11)
                   : "memory", "cr0", "ctr", "xer");
  return (int64_t)r3;
}
