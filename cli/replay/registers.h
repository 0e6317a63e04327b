// SPDX-License-Identifier: GPL-2.0-or-later
// The registers that gdb sees: only the values that the trace proves.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/core_trace/events.h"

namespace htmtrace {

// In the order of the description and of the packet g.
struct Registers {
  static constexpr size_t kGeneral = 32;
  static constexpr size_t kPc = 32, kMsr = 33, kCr = 34, kLr = 35, kCtr = 36, kXer = 37;
  static constexpr size_t kCount = 38;
  static constexpr size_t bytes_of(size_t number) {
    return number == kCr || number == kXer ? 4 : 8;
  }

  std::array<std::optional<uint64_t>, kCount> values;
};

// The values before `here` executes. `before` is the preceding instruction. It is null if it is
// unknown, or if instructions between both may be missing. The stack pointer r1 is always unknown.
Registers proven_registers(const Instruction& here, const Instruction* before);

// The digits of a register: "x" for each digit of an unknown value.
std::string register_digits(const Registers& registers, size_t number, std::endian order);

// The description of the target for qXfer:features:read: "Debugging with GDB", appendix G,
// "PowerPC Features".
const std::string& target_description();

}  // namespace htmtrace
