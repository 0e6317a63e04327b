// SPDX-License-Identifier: GPL-2.0-or-later
// The trace holds branches in the form of the instruction cache: part of the absolute target
// replaces the displacement, and some fields move. These functions restore the architected
// instruction. htm-core-trace(5), BRANCHES.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/address.h"
#include "core/core_trace/events.h"

namespace htmtrace {

// `stored` is the opcode of an INFO word whose branch bit is set; `address` is the address of the
// instruction. Returns nothing for a branch with a displacement at an unknown address, and for a
// stored form that no known instruction has.
std::optional<uint32_t> restore_power8_branch(uint32_t stored,
                                              std::optional<EffectiveAddr> address);
std::optional<uint32_t> restore_power10_branch(uint32_t stored,
                                               std::optional<EffectiveAddr> address);

// Replaces the stored opcode of `instruction` with the result of `restore`.
template <class Restore>
[[gnu::always_inline]] inline void restore_branch(Instruction& instruction, Restore restore) {
  std::optional<EffectiveAddr> address;
  if (instruction.has_ea) address = instruction.ea;
  const std::optional<uint32_t> opcode = restore(instruction.opcode, address);
  instruction.has_opcode = opcode.has_value();
  instruction.opcode = opcode.value_or(0);
}

}  // namespace htmtrace
