// SPDX-License-Identifier: GPL-2.0-or-later
// The stack pointer r1, as far as a trace shows it: loads and stores that are based on it tell its
// value by their data address and displacement, and few instructions change it. Power ISA 3.1,
// Book I, 1.6 (instruction formats) and 3.3; r1 is the stack pointer in all ELF ABIs.
#pragma once

#include <cstdint>

#include "core/core_events.h"

namespace htmtrace {

// Most instructions name no r1 in the two fields that matter, and need no second look.
constexpr bool may_name_stack_pointer(uint32_t word) {
  return (word >> 16 & 31) == 1 || (word >> 21 & 31) == 1;
}

// What a word instruction says of r1.
struct StackPointerUse {
  bool based = false;       // its data address is r1 + displacement
  bool updates = false;     // and r1 becomes that address
  bool adjusts = false;     // r1 grows by displacement
  bool overwrites = false;  // r1 becomes something that is not known
  int64_t displacement = 0;
};

StackPointerUse stack_pointer_use(uint32_t word);

// The value of r1 while a program runs.
class StackPointer {
 public:
  bool known() const { return known_; }
  uint64_t value() const { return value_; }  // if it is known
  uint64_t moved() const { return value_; }  // else: since it was forgotten

  void set(uint64_t value) {
    value_ = value;
    known_ = true;
  }
  // What is then added to it counts from there.
  void forget() {
    known_ = false;
    value_ = 0;
  }
  void adjust(int64_t by) { value_ += static_cast<uint64_t>(by); }

  // Whether both are known and differ.
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
