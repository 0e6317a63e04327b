// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/machine/clients/control.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t hypervisor_call(uint64_t number, const uint64_t arguments[kCallArguments]) {
  register uint64_t r3 __asm__("r3") = number;
  register uint64_t r4 __asm__("r4") = arguments[0];
  register uint64_t r5 __asm__("r5") = arguments[1];
  register uint64_t r6 __asm__("r6") = arguments[2];
  register uint64_t r7 __asm__("r7") = arguments[3];
  register uint64_t r8 __asm__("r8") = arguments[4];
  register uint64_t r9 __asm__("r9") = arguments[5];
  register uint64_t r10 __asm__("r10") = arguments[6];
  register uint64_t r11 __asm__("r11") = arguments[7];
  __asm__ volatile("sc 1"
                   : "+r"(r3)
                   : "r"(r4), "r"(r5), "r"(r6), "r"(r7), "r"(r8), "r"(r9), "r"(r10), "r"(r11)
                   : "memory", "cr0", "ctr", "xer");
  return (int64_t)r3;
}

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
  uint64_t words[kCallArguments];
  memcpy(words, line, sizeof(words));
  return hypervisor_call(0xff00, words);  // tests/machine/plugin/control.h
}
