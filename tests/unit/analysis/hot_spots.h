// SPDX-License-Identifier: GPL-2.0-or-later
// Instructions and symbols for the tests of hot spots.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "core/core_trace/decoder.h"
#include "core/core_trace/events.h"
#include "core/memory_map/translation.h"
#include "output/symbols/kallsyms.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace {

// A sink that keeps the instructions of a decoder.
struct KeptInstructions {
  void instruction(const Instruction& instruction) { instructions.push_back(instruction); }
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}
  std::vector<Instruction> instructions;
};

inline std::vector<Instruction> random_instructions(unsigned count) {
  std::vector<uint64_t> words;
  generator::Power10Program program(11, {});
  for (unsigned i = 0; i < count; i++) program.next(words, false);
  const std::vector<std::byte> trace = generator::bytes_of(words);
  const TranslationMap map(generator::translation_file(), 0);
  KeptInstructions kept;
  CoreDecoder decoder(map, kept);
  decoder.feed(trace);
  decoder.finish();
  return kept.instructions;
}

// An instruction that accesses the effective address `dea`, whose logical address is `la`.
inline Instruction accessing(uint64_t ea, uint32_t opcode, uint64_t dea, uint64_t la) {
  Instruction instruction;
  instruction.ea = EffectiveAddr{ea};
  instruction.has_ea = true;
  instruction.opcode = opcode;
  instruction.has_opcode = true;
  DataAccess& data = instruction.add_data(EffectiveAddr{dea});
  data.la = LogicalAddr{la};
  data.has_la = true;
  return instruction;
}

// An address of the trace that belongs to no program. Its bits look like an owner
// (core/analysis/symbol_table.h).
inline constexpr uint64_t kNobodys = uint64_t{1} << 52;

inline constexpr uint32_t kLd = 0xe8640008;   // r3,8(r4)
inline constexpr uint32_t kStd = 0xf8640008;  // r3,8(r4)

inline SymbolTable kernel_symbols() {
  SymbolTable table;
  const KallsymsReport report = add_kallsyms(
      "c000000000010000 T start\n"
      "c000000000010000 t start_alias\n"
      "c000000000010100 t helper\n"
      "c008000000000000 t work\t[module]\n"
      "0000000000000000 A fixed\n"
      "not a line\n"
      "c000000001000000 D hammered\n",
      table);
  CHECK(report.symbols == 5);
  CHECK(report.malformed == 1);
  CHECK(report.hidden == 0);
  table.finish();
  return table;
}

}  // namespace htmtrace
