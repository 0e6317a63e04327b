// SPDX-License-Identifier: GPL-2.0-or-later
// The hypervisor's observations, written to hypervisor.report when the emulator exits: one fact for
// each line, "key value...".
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "h_htm.h"

// Reports an invalid configuration with its file and line, and ends the emulator.
void die(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));

void report_call(enum htm_operation operation);
void report_injected(enum htm_operation operation);
// Reports a call that would have damaged memory on a real machine.
void report_violation(const char* format, ...) __attribute__((format(printf, 1, 2)));

uint64_t report_violations(void);

// Writes counters and violations; the other modules add their own lines.
void report_write(FILE* file);
