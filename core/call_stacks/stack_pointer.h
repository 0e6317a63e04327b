// SPDX-License-Identifier: GPL-2.0-or-later
// The stack pointer r1, as far as a trace shows it. Loads and stores based on r1 reveal its value
// by their data address and displacement, and few instructions change r1. Power ISA 3.1, Book I,
// 1.6 (instruction formats) and 3.3; r1 is the stack pointer in all ELF ABIs.
#pragma once

#include <cstdint>

#include "core/core_trace/events.h"

namespace htmtrace {

// False for most instructions: they do not name r1 in the two relevant fields and need no analysis.
constexpr bool may_name_stack_pointer(uint32_t word) {
  return (word >> 16 & 31) == 1 || (word >> 21 & 31) == 1;
}

// The use of r1 by a word instruction.
struct StackPointerUse {
  bool based = false;       // its data address is r1 + displacement
  bool updates = false;     // r1 becomes that address
  bool adjusts = false;     // r1 changes by displacement
  bool overwrites = false;  // r1 gets an unknown value
  int64_t displacement = 0;
};

StackPointerUse stack_pointer_use(uint32_t word);

// The value of r1 while a program runs.
class StackPointer {
 public:
  bool known() const { return known_; }
  uint64_t value() const { return value_; }  // valid if known()
  uint64_t moved() const { return value_; }  // valid if not known(): the change since forget()

  void set(uint64_t value) {
    value_ = value;
    known_ = true;
  }
  // Later changes count from this call.
  void forget() {
    known_ = false;
    value_ = 0;
  }
  void adjust(int64_t by) { value_ += static_cast<uint64_t>(by); }

  // Returns true if both values are known and differ.
  bool contradicts(const StackPointer& other) const {
    return known_ && other.known_ && value_ != other.value_;
  }
  bool equals(const StackPointer& other) const {
    return known_ && other.known_ && value_ == other.value_;
  }

 private:
  uint64_t value_ = 0;
  bool known_ = false;
};

}  // namespace htmtrace
