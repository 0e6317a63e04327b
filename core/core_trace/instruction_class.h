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

namespace class_table {

// The row of a primary opcode. The class of a word instruction is kClasses[first + (word & mask)].
struct Row {
  uint16_t first = 0;
  uint16_t mask = 0;
};
inline constexpr unsigned kPrimaries = 64;
inline constexpr unsigned kExtendedPrimaries = 6;    // opcodes whose classes depend on more bits
inline constexpr unsigned kExtendedWords = 1 << 11;  // bits 21-31
inline constexpr unsigned kClassCount = kPrimaries + kExtendedPrimaries * kExtendedWords;
extern const std::array<Row, kPrimaries> kRows;
extern const std::array<InstructionClass, kClassCount> kClasses;

}  // namespace class_table

// Accepts a word instruction. Has no branch, because the processor cannot predict the next class.
[[gnu::always_inline]] inline InstructionClass class_of_word(uint32_t opcode) {
  const class_table::Row row = class_table::kRows[opcode >> 26];
  return class_table::kClasses[row.first + (opcode & row.mask)];
}

// Accepts a prefixed instruction.
InstructionClass class_of_prefixed(uint32_t prefix, uint32_t suffix);

// Inlined by force, so that an instruction stays in registers (plain_records.h).
[[gnu::always_inline]] inline InstructionClass class_of(const Instruction& instruction) {
  if (!instruction.has_opcode) return InstructionClass::kUnknown;
  return instruction.has_prefix ? class_of_prefixed(instruction.prefix, instruction.opcode)
                                : class_of_word(instruction.opcode);
}

}  // namespace htmtrace
