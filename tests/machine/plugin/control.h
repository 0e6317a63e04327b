// SPDX-License-Identifier: GPL-2.0-or-later
// What the guest's test programs say to the hypervisor while they run: a hypervisor call of user
// mode, of a number that PAPR gives to no one, with a line of text in r4 to r11. The lines are in
// README.md.
#pragma once
#include <stdint.h>

// Of the range that PAPR leaves to platforms.
#define H_CONTROL_OPCODE UINT64_C(0xff00)

enum { kControlRegisters = 8, kControlBytes = 8 * kControlRegisters };

// `line` ends with a zero byte. Returns what the line asks for, 0, or -1 if it is not understood.
int64_t control(const char* line);
