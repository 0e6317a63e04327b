// SPDX-License-Identifier: GPL-2.0-or-later
// TAP for the test clients. The plan is the last line.
#pragma once
#include <stdbool.h>
#include <stdint.h>

void tap(bool good, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Passes if the two values are equal, and otherwise prints both.
void tap_equal(int64_t got, int64_t wanted, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// Returns the exit status.
int tap_end(void);
