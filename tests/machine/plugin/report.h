// SPDX-License-Identifier: GPL-2.0-or-later
// What the hypervisor saw, written to hypervisor.report when the emulator exits: one fact per line,
// "key value...".
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "h_htm.h"

// A broken configuration: say what, on which line of which file, and end the emulator.
void die(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));

void report_call(enum htm_operation operation);
void report_injected(enum htm_operation operation);
// A caller did what would have damaged memory on a real machine.
void report_violation(const char* format, ...) __attribute__((format(printf, 1, 2)));

uint64_t report_violations(void);

// Counters and violations; the other parts add their own lines.
void report_write(FILE* file);
