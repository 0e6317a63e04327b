// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/machine/clients/tap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static unsigned tests, failures;

static void say(bool good, const char* format, va_list arguments) {
  tests++;
  failures += !good;
  printf("%sok %u - ", good ? "" : "not ", tests);
  vprintf(format, arguments);
  putchar('\n');
  fflush(stdout);
}

void tap(bool good, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(good, format, arguments);
  va_end(arguments);
}

void tap_equal(int64_t got, int64_t wanted, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(got == wanted, format, arguments);
  va_end(arguments);
  if (got != wanted) printf("#   got %" PRId64 ", wanted %" PRId64 "\n", got, wanted);
}

int tap_end(void) {
  printf("1..%u\n", tests);
  return failures != 0;
}
