// SPDX-License-Identifier: GPL-2.0-or-later
// GNU as generated the encodings from the names beside them (binutils 2.40, -mpower10).
#include "cli/replay/registers.h"

#include <doctest/doctest.h>

#include <string>

namespace htmtrace {
namespace {

constexpr uint64_t kPlace = 0x10000100;

Instruction plain_instruction(uint32_t opcode, uint64_t ea = kPlace) {
  Instruction instruction;
  instruction.ea = EffectiveAddr{ea};
  instruction.has_ea = true;
  instruction.opcode = opcode;
  instruction.has_opcode = true;
  instruction.modes = {.bits = Modes::kSf | Modes::kLe, .known = Modes::kAll};
  return instruction;
}

Instruction with_data(uint32_t opcode, uint64_t data) {
  Instruction instruction = plain_instruction(opcode);
  instruction.add_data(EffectiveAddr{data});
  return instruction;
}

// The number and value of the only known general register, as "r5=1000".
std::string base_of(const Instruction& here) {
  const Registers registers = proven_registers(here, nullptr);
  std::string text;
  for (size_t i = 0; i < Registers::kGeneral; i++) {
    if (!registers.values.at(i)) continue;
    CHECK(text.empty());
    text = "r" + std::to_string(i) + "=" + std::to_string(*registers.values.at(i));
  }
  return text;
}

std::optional<uint64_t> link_of(const Instruction& here, const Instruction* before) {
  return proven_registers(here, before).values[Registers::kLr];
}

}  // namespace

TEST_CASE("the program counter is the address of the instruction") {
  const Registers registers = proven_registers(plain_instruction(0x60000000), nullptr);
  for (size_t i = 0; i < Registers::kCount; i++) {
    CHECK(registers.values.at(i).has_value() == (i == Registers::kPc));
  }
  CHECK(registers.values[Registers::kPc] == kPlace);
}

TEST_CASE("a load or store with a displacement proves its base register") {
  CHECK(base_of(with_data(0xe8650008, 1008)) == "r5=1000");  // ld 3,8(5)
  CHECK(base_of(with_data(0xe865fff9, 992)) == "r5=1000");   // ldu 3,-8(5)
  CHECK(base_of(with_data(0x98850000, 1000)) == "r5=1000");  // stb 4,0(5)
  CHECK(base_of(with_data(0xf4250019, 1016)) == "r5=1000");  // lxv 33,16(5)
  CHECK(base_of(with_data(0x7c64282a, 1000)).empty());       // ldx 3,4,5
  CHECK(base_of(with_data(0xe8600008, 8)).empty());          // ld 3,8(0)
  CHECK(base_of(with_data(0xe8610008, 1008)).empty());       // ld 3,8(1): the stack pointer
  CHECK(base_of(plain_instruction(0xe8650008)).empty());     // without its address
}

TEST_CASE("a base register is unknown where the address does not prove it") {
  Instruction narrow = with_data(0xe8650008, 1008);
  narrow.modes.bits = Modes::kLe;  // 32-bit mode
  CHECK(base_of(narrow).empty());
  Instruction unknown = with_data(0xe8650008, 1008);
  unknown.modes = {};
  CHECK(base_of(unknown).empty());
  Instruction prefixed = with_data(0xe4600010, 1008);
  prefixed.prefix = 0x04000000;
  prefixed.has_prefix = true;
  CHECK(base_of(prefixed).empty());
  Instruction two_pages = with_data(0xe8650008, 0x1ffe);
  two_pages.add_data(EffectiveAddr{0x2000});
  CHECK(base_of(two_pages).empty());
}

TEST_CASE("a call proves the link register of the next instruction") {
  const Instruction call = plain_instruction(0x48000079, kPlace);  // bl .+0x78
  CHECK(link_of(plain_instruction(0x60000000, kPlace + 0x78), &call) == kPlace + 4);
  CHECK(!link_of(plain_instruction(0x60000000, kPlace + 0x80), &call));
  CHECK(!link_of(plain_instruction(0x60000000, kPlace + 0x78), nullptr));
  const Instruction conditional = plain_instruction(0x41820079);  // bcl 12,2,.+0x78
  CHECK(link_of(plain_instruction(0x60000000, kPlace + 4), &conditional) == kPlace + 4);
  const Instruction indirect = plain_instruction(0x4e800421);  // bctrl
  CHECK(link_of(plain_instruction(0x60000000, 0x20000000), &indirect) == kPlace + 4);
  const Instruction jump = plain_instruction(0x48000078);  // b .+0x78
  CHECK(!link_of(plain_instruction(0x60000000, kPlace + 0x78), &jump));
}

TEST_CASE("the digits of a register are in the order of the target, or x") {
  Registers registers;
  registers.values[Registers::kPc] = 0x10000104;
  registers.values[Registers::kCr] = 0x24000082;
  CHECK(register_digits(registers, Registers::kPc, std::endian::little) == "0401001000000000");
  CHECK(register_digits(registers, Registers::kPc, std::endian::big) == "0000000010000104");
  CHECK(register_digits(registers, Registers::kCr, std::endian::little) == "82000024");
  CHECK(register_digits(registers, Registers::kXer, std::endian::little) == "xxxxxxxx");
  CHECK(register_digits(registers, 0, std::endian::little) == "xxxxxxxxxxxxxxxx");
}

}  // namespace htmtrace
