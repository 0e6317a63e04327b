// SPDX-License-Identifier: GPL-2.0-or-later
// Sends requests to the emulated hypervisor from a program in the guest: see
// tests/machine/plugin/README.md.
#pragma once
#include <stdint.h>

enum { kCallArguments = 8, kControlBytes = 8 * kCallArguments };

// Passes the arguments in r4 to r11. Returns r3.
int64_t hypervisor_call(uint64_t number, const uint64_t arguments[kCallArguments]);

// Sends a line of at most 63 characters. Returns the hypervisor's answer, or -1 for an invalid
// line.
int64_t control(const char* format, ...) __attribute__((format(printf, 1, 2)));
