// SPDX-License-Identifier: GPL-2.0-or-later
// Tests that remembered texts are those of the same words at the same address.
#include "output/symbols/disassembler.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace htmtrace {
namespace {

Instruction instruction_at(uint64_t address, uint32_t opcode) {
  Instruction instruction;
  instruction.has_ea = true;
  instruction.ea = EffectiveAddr{address};
  instruction.has_opcode = true;
  instruction.opcode = opcode;
  return instruction;
}

// Words of all primary opcodes, with random operands. The table of texts by words is smaller.
std::vector<Instruction> many_instructions(uint64_t address) {
  std::mt19937 random(1);
  std::vector<Instruction> all;
  for (uint32_t i = 0; i < 40'000; i++) {
    all.push_back(instruction_at(address, i % 64 << 26 | (random() & 0x3ffffff)));
    if (i % 64 == 1) {
      // The word before is a prefix: 8-byte loads and stores, relative to the address or not.
      all.back().has_prefix = true;
      all.back().prefix = 0x04000000 | (random() & 0x13ffff);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("disassembly: a text from another address is not repeated") {
  if (!can_disassemble()) return;
  Disassembler first_here, only_there;
  std::vector<std::string> texts;
  for (const Instruction& instruction : many_instructions(0x10000)) {
    texts.emplace_back(first_here.text(instruction));
  }
  const std::vector<Instruction> there = many_instructions(0xc000000000123450);
  size_t different = 0;
  for (size_t i = 0; i < there.size(); i++) {
    const std::string text(first_here.text(there[i]));
    CHECK(text == only_there.text(there[i]));
    CHECK(text == first_here.text(there[i]));
    if (text != texts[i]) different++;
  }
  CHECK(different > 100);  // branches
}

TEST_CASE("disassembly: branches with and without an address") {
  if (!can_disassemble()) return;
  Disassembler disassembler;
  // The instruction without an address has a displacement.
  Instruction branch = instruction_at(0xc000000000000000, 0x48000001);
  CHECK(disassembler.text(branch) == "bl 0xc000000000000000");
  branch.has_ea = false;
  CHECK(disassembler.text(branch) == "bl 0x0");
  CHECK(disassembler.text(instruction_at(0, 0x60000000)) == "nop");
  CHECK(disassembler.text(instruction_at(8, 0x60000000)) == "nop");
}

}  // namespace htmtrace
