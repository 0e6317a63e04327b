// SPDX-License-Identifier: GPL-2.0-or-later
// TAP for the test clients: the plan comes last.
#pragma once
#include <stdbool.h>
#include <stdint.h>

void tap(bool good, const char* format, ...) __attribute__((format(printf, 2, 3)));
// good when the two are equal; shows both when not.
void tap_equal(int64_t got, int64_t wanted, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// The exit status.
int tap_end(void);
