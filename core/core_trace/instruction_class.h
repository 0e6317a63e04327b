// SPDX-License-Identifier: GPL-2.0-or-later
// The class of an instruction, from its opcode.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/core_trace/events.h"

namespace htmtrace {

enum class InstructionClass : uint8_t {
  kUnknown,  // the opcode is missing, or no processor has it
  kInteger,  // fixed point and condition register, including moves
  kBranch,
  kLoad,
  kStore,
  kAtomic,  // load and reserve, store conditional, atomic memory operations
  kCache,   // cache blocks: touch, flush, zero, invalidate
  kSync,    // barriers
  kFloat,
  kVector,  // VMX, VSX (scalar, too) and matrix, except their loads and stores
  kSpr,     // moves from and to special-purpose registers
  kSystem,  // calls, returns from interrupts, traps, MSR, TLB and SLB, messages, transactions
};
inline constexpr unsigned kInstructionClasses = 12;
inline constexpr std::array<std::string_view, kInstructionClasses> kInstructionClassNames = {
    "unknown", "integer", "branch", "load",   "store", "atomic",
    "cache",   "sync",    "float",  "vector", "spr",   "system"};

// The class of a word instruction by primary opcode; kUnknown if the class depends on more bits.
extern const std::array<InstructionClass, 64> kClassByPrimary;

// Accepts a word instruction whose class depends on more bits than the primary opcode.
InstructionClass class_of_extended(uint32_t opcode);

// Accepts a word instruction.
inline InstructionClass class_of_word(uint32_t opcode) {
  const InstructionClass simple = kClassByPrimary[opcode >> 26];
  return simple != InstructionClass::kUnknown ? simple : class_of_extended(opcode);
}

// Accepts a prefixed instruction.
InstructionClass class_of_prefixed(uint32_t prefix, uint32_t suffix);

inline InstructionClass class_of(const Instruction& instruction) {
  if (!instruction.has_opcode) return InstructionClass::kUnknown;
  return instruction.has_prefix ? class_of_prefixed(instruction.prefix, instruction.opcode)
                                : class_of_word(instruction.opcode);
}

}  // namespace htmtrace
