// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a vCPU's execution into its macro's buffer as POWER10 records, with the stamps, fillers
// and translation records of a real trace. All functions require the macro's lock.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "execution.h"
#include "htm.h"

// Execution enters the 128-byte line of `ea`.
void trace_line(struct htm* htm, uint64_t ea, uint64_t real);

// Returns false if the buffer is full.
bool trace_instruction(struct htm* htm, const struct execution* execution);

// An instruction that did not complete: its translation may have been traced already.
void trace_interrupted(struct htm* htm, const struct execution* execution);
