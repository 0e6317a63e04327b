// SPDX-License-Identifier: GPL-2.0-or-later
// The size and the direction of an access, from the opcode of the instruction. A trace holds only
// the address of an access.
#pragma once

#include <cstdint>

#include "core/core_trace/events.h"

namespace htmtrace {

struct AccessShape {
  // The number of accessed bytes, counted from the address. An upper bound for atomic memory
  // operations, and for instructions whose length is in a register. For an opcode without a known
  // access: 1, and neither `reads` nor `writes` is set.
  uint16_t bytes = 1;
  bool reads = false;
  // A store-conditional counts as a write, whether it succeeded or not.
  bool writes = false;
  // The access is the whole cache line that holds the address.
  bool whole_line = false;
};

// `instruction` must have an opcode.
AccessShape access_shape(const Instruction& instruction);

// True if data access `index` of the instruction touches a byte of [first, first + bytes).
// `touched` receives the lowest such byte.
bool touches(const Instruction& instruction, unsigned index, AccessShape shape, uint64_t first,
             uint64_t bytes, uint64_t& touched);

}  // namespace htmtrace
