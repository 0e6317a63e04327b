// SPDX-License-Identifier: GPL-2.0-or-later
// Requests of the guest's test programs to the hypervisor: a user-mode hypervisor call with a
// number that PAPR assigns to no function. r4 to r11 hold a line of text. README.md describes the
// lines.
#pragma once
#include <stdint.h>

// In the range that PAPR leaves to platforms.
#define H_CONTROL_OPCODE UINT64_C(0xff00)

enum { kControlRegisters = 8, kControlBytes = 8 * kControlRegisters };

// `line` ends with a zero byte. Returns the requested value, 0, or -1 if the line is invalid.
int64_t control(const char* line);
