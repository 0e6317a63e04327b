// SPDX-License-Identifier: GPL-2.0-or-later
// H_HTM: checks the arguments, performs the operation, and returns the status for r3.
#pragma once
#include <stdint.h>

struct htm_call {
  uint64_t flags;      // r4
  uint64_t target;     // r5: node, chip, core, zero; 16 bits each
  uint64_t operation;  // r6: operation and type, 16 bits each, then 32 zero bits
  uint64_t parameter[3];
};

int64_t hcall_htm(const struct htm_call* call);
