// SPDX-License-Identifier: GPL-2.0-or-later
// Branches are traced as the instruction cache holds them: with a piece of the absolute target
// instead of the displacement, and fields moved. These give the architected instruction back.
// htm-core-trace(5), BRANCHES.
#pragma once

#include <cstdint>
#include <optional>

#include "core/address.h"
#include "core/core_events.h"

namespace htmtrace {

// `stored` is the opcode of an INFO word whose branch bit is set, `address` where the instruction
// is. Nothing when it cannot be restored: a branch with a displacement at an unknown address, or a
// stored form that no known instruction has.
std::optional<uint32_t> restore_power8_branch(uint32_t stored,
                                              std::optional<EffectiveAddr> address);
std::optional<uint32_t> restore_power10_branch(uint32_t stored,
                                               std::optional<EffectiveAddr> address);

// Replaces the opcode of `instruction`, as stored, by the one that `restore` gives.
template <class Restore>
[[gnu::always_inline]] inline void restore_branch(Instruction& instruction, Restore restore) {
  std::optional<EffectiveAddr> address;
  if (instruction.has_ea) address = instruction.ea;
  const std::optional<uint32_t> opcode = restore(instruction.opcode, address);
  instruction.has_opcode = opcode.has_value();
  instruction.opcode = opcode.value_or(0);
}

}  // namespace htmtrace
