// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/replay/registers.h"

#include <fmt/core.h>

#include <string_view>

#include "core/analysis/control_flow.h"
#include "core/call_stacks/stack_pointer.h"

namespace htmtrace {
namespace {

// The value of the base register of a load or store: the data address minus the displacement. Power
// ISA 3.1, Book I, 1.10.3: in 32-bit mode, the address has only half of the bits.
struct BaseRegister {
  size_t number = 0;  // 0: unknown; in these instructions, RA 0 stands for the value 0
  uint64_t value = 0;
};

BaseRegister proven_base(const Instruction& here) {
  if (here.data_count != 1 || !here.has_opcode || here.has_prefix || !here.modes.is(Modes::kSf)) {
    return {};
  }
  constexpr unsigned kBaseShift = 16;
  constexpr uint32_t kBaseField = 31U << kBaseShift;
  const size_t number = here.opcode >> kBaseShift & 31;
  // The rule for the stack pointer r1 is valid for each base register.
  const StackPointerUse use = stack_pointer_use((here.opcode & ~kBaseField) | 1U << kBaseShift);
  if (number == 0 || !use.based) return {};
  return {.number = number,
          .value = here.data[0].ea.value - static_cast<uint64_t>(use.displacement)};
}

// A branch with LK=1 sets the link register, even if it is not taken.
std::optional<uint64_t> proven_link(const Instruction& here, const Instruction* before) {
  if (before == nullptr || !before->has_ea || !before->has_opcode || before->has_prefix ||
      !before->modes.is(Modes::kSf) || !sets_link(before->opcode)) {
    return std::nullopt;
  }
  const uint64_t ea = before->ea.value, next = ea + 4;
  // Otherwise, untraced code may have run in between.
  if (is_direct_branch(before->opcode) && here.ea.value != next &&
      here.ea.value != direct_target(before->opcode, ea)) {
    return std::nullopt;
  }
  return next;
}

std::string make_description() {
  std::string text =
      "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
      "<target version=\"1.0\"><architecture>powerpc:common64</architecture>\n"
      "<feature name=\"org.gnu.gdb.power.core\">\n";
  const auto add = [&text](std::string_view name, size_t number, std::string_view type) {
    text += fmt::format("<reg name=\"{}\" bitsize=\"{}\" type=\"{}\" regnum=\"{}\"/>\n", name,
                        Registers::bytes_of(number) * 8, type, number);
  };
  for (size_t i = 0; i < Registers::kGeneral; i++) add(fmt::format("r{}", i), i, "uint64");
  add("pc", Registers::kPc, "code_ptr");
  add("msr", Registers::kMsr, "uint64");
  add("cr", Registers::kCr, "uint32");
  add("lr", Registers::kLr, "code_ptr");
  add("ctr", Registers::kCtr, "uint64");
  add("xer", Registers::kXer, "uint32");
  return text + "</feature></target>\n";
}

}  // namespace

Registers proven_registers(const Instruction& here, const Instruction* before) {
  Registers registers;
  if (here.has_ea) registers.values[Registers::kPc] = here.ea.value;
  const BaseRegister base = proven_base(here);
  // If gdb 13 knows the stack pointer but not the link register, it reports an error instead of a
  // step, because it cannot unwind the stack.
  constexpr size_t kStackPointer = 1;
  if (base.number != 0 && base.number != kStackPointer)
    registers.values.at(base.number) = base.value;
  registers.values[Registers::kLr] = proven_link(here, before);
  return registers;
}

std::string register_digits(const Registers& registers, size_t number, std::endian order) {
  constexpr unsigned kByteBits = 8;
  const size_t bytes = Registers::bytes_of(number);
  const std::optional<uint64_t>& value = registers.values.at(number);
  if (!value) return std::string(2 * bytes, 'x');
  std::string digits;
  for (size_t i = 0; i < bytes; i++) {
    const size_t place = order == std::endian::little ? i : bytes - 1 - i;
    digits += fmt::format("{:02x}", static_cast<uint8_t>(*value >> (place * kByteBits)));
  }
  return digits;
}

const std::string& target_description() {
  static const std::string text = make_description();
  return text;
}

}  // namespace htmtrace
