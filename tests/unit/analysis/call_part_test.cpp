// SPDX-License-Identifier: GPL-2.0-or-later
// Compares call stacks of parts with call stacks of each instruction.
#include "core/call_stacks/call_part.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <string>

#include "core/analysis/control_flow.h"
#include "core/analysis/symbol_table.h"
#include "core/call_stacks/call_stacks.h"
#include "core/call_stacks/follow_part.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/analysis/call_edge_lines.h"
#include "tests/unit/analysis/folded_stacks.h"
#include "tests/unit/instruction_run.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

using generator::Random;

constexpr uint64_t kUserCode = 0x10000000, kKernelCode = 0xc000000000000000;
constexpr uint64_t kCodeBytes = 0x3000;

// Functions of random sizes, with unnamed code between them.
SymbolTable random_symbols(Random& random) {
  SymbolTable symbols;
  if (random.chance(200)) return symbols;
  for (const uint64_t code : {kUserCode, kKernelCode}) {
    uint64_t at = code;
    while (at < code + kCodeBytes) {
      const uint64_t bytes = 4 + 4 * random.below(200);
      symbols.add({.address = at, .size_bytes = bytes, .name = "f" + std::to_string(at)});
      at += bytes + (random.chance(300) ? 4 * random.below(100) : 0);
    }
  }
  symbols.finish();
  return symbols;
}

// A program that jumps, calls, returns, enters and leaves the kernel, and uses its stack.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {}

  Instruction next() {
    Instruction instruction = one(ea_, word());
    instruction.modes = {kernel_ ? uint16_t{0} : Modes::kPr, Modes::kAll};
    instruction.has_la = random_.chance(990);
    instruction.la = {ea_ & 0xffff};
    if (random_.chance(3)) instruction.has_ea = false;
    if (random_.chance(3)) instruction.has_opcode = false;
    if (random_.chance(3)) instruction.ea = {ea_ | uint64_t{1} << 60};
    instruction.has_prefix = random_.chance(20);
    if (random_.chance(400)) instruction.add_data({stack_ + 16});
    move(instruction);
    return instruction;
  }

 private:
  uint32_t word() {
    constexpr auto kWords = std::to_array<uint32_t>({
        0x4e800020,  // blr
        0x4e800420,  // bctr
        0x4e800421,  // bctrl
        0x41820010,  // beq
        0x44000002,  // sc
        0x4c000024,  // rfid
        0xf8010010,  // std r0,16(r1)
        0xf821ffe1,  // stdu r1,-32(r1)
        0x38210020,  // addi r1,r1,32
        0xe82d0100,  // ld r1,256(r13)
        0x38000078,  // li r0,120
        0x380000ac,  // li r0,172
    });
    if (random_.chance(700)) return kNop;
    if (random_.chance(200)) return call(ea_, target());
    return kWords.at(random_.below(kWords.size()));
  }
  uint64_t target() {
    return (kernel_ ? kKernelCode : kUserCode) + 4 * random_.below(kCodeBytes / 4);
  }

  void move(const Instruction& instruction) {
    const uint64_t next = ea_ + (instruction.has_prefix ? 8 : 4);
    const bool branches = branch_kind(instruction.opcode) != BranchKind::kNone;
    if (random_.chance(10)) kernel_ = !kernel_;
    if (random_.chance(50)) stack_ += 32 * random_.below(5) - 64;
    if (returns_by_link(instruction.opcode) && random_.chance(700)) {
      ea_ = back_;
    } else {
      if (sets_link(instruction.opcode)) back_ = next;
      ea_ = random_.chance(branches ? 600 : 5) ? target() : next;
    }
  }

  Random random_;
  bool kernel_ = false;
  uint64_t ea_ = kUserCode;
  uint64_t back_ = kUserCode;
  uint64_t stack_ = 0x7fff0000;
};

// Half of the programs have inlined functions: each block of 16 bytes has none, one or two.
FindInlined random_inlined(Random& random) {
  if (random.chance(500)) return {};
  const uint64_t salt = random.below(1 << 16);
  return [salt](EffectiveAddr address) {
    InlinedFunctions inlined{.begin = address.value & ~uint64_t{15},
                             .end = (address.value & ~uint64_t{15}) + 16,
                             .names = {}};
    const uint64_t number = (inlined.begin / 16 * 11 + salt) % 7;
    for (uint64_t i = 0; i + 4 < number; i++)
      inlined.names.push_back(fmt::format("f{}", number - i));
    return inlined;
  };
}

struct NoCode {
  void code(const CallStacks::Stretch&) {}
  void gap() {}
};

}  // namespace

TEST_CASE("call stacks of parts equal the call stacks of each instruction") {
  size_t runs = 0;
  for (uint64_t seed = 0; seed < rounds(60); seed++) {
    INFO("seed ", seed);
    Random random(seed);
    const SymbolTable symbols = random_symbols(random);
    const FindInlined inlined = random_inlined(random);
    CallStacks expected(symbols, CallTree::Detail::kFunctions, inlined);
    CallStacks stacks(symbols, CallTree::Detail::kFunctions, inlined);
    CallPart part = stacks.new_part();
    RandomProgram program(seed);
    const uint64_t most = 1 + random.below(3000);
    for (int i = 0; i < 5000; i++) {
      if (random.chance(2)) {
        expected.defect({});
        part.defect({});
      }
      const Instruction instruction = program.next();
      if (random.chance(900)) {
        expected.instruction(instruction);
        part.instruction(instruction);
      } else {
        expected.unselected(instruction);
        part.unselected(instruction);
      }
      if (random.below(most) != 0) continue;
      for (const CallPart::Step& step : part.steps()) runs += step.run != 0 ? 1 : 0;
      stacks.take(part);
    }
    stacks.take(part);
    REQUIRE(folded(stacks.tree()) == folded(expected.tree()));
    REQUIRE(call_edge_lines(stacks.tree()) == call_edge_lines(expected.tree()));
    REQUIRE(stacks.unknown() == expected.unknown());
    REQUIRE(stacks.restarts() == expected.restarts());
    REQUIRE(stacks.cut() == expected.cut());
  }
  CHECK(runs > rounds(10000));
}

TEST_CASE("call stacks: merged stacks have the same calls and counts") {
  size_t merged = 0;
  for (uint64_t seed = 0; seed < rounds(60); seed++) {
    INFO("seed ", seed);
    Random random(seed);
    const SymbolTable symbols = random_symbols(random);
    const auto detail =
        random.chance(500) ? CallTree::Detail::kSites : CallTree::Detail::kFunctions;
    const FindInlined inlined = random_inlined(random);
    CallStacks expected(symbols, detail, inlined), stacks(symbols, detail, inlined);
    CallPart part = expected.new_part(), same = stacks.new_part();
    NoCode none;
    RandomProgram program(seed);
    const uint64_t most = 1 + random.below(200);
    for (int i = 0; i < 5000; i++) {
      const bool lost = random.chance(2);
      const Instruction instruction = program.next();
      for (CallPart* const each : {&part, &same}) {
        if (lost) each->defect({});
        each->instruction(instruction);
      }
      if (random.below(most) != 0) continue;
      expected.follow_part(part, none);
      stacks.follow_part(same, none);
      const size_t before = stacks.tree().size();
      stacks.merge_stacks();
      merged += before - stacks.tree().size();
    }
    expected.follow_part(part, none);
    stacks.follow_part(same, none);
    REQUIRE(folded(stacks.tree()) == folded(expected.tree()));
    REQUIRE(call_edge_lines(stacks.tree()) == call_edge_lines(expected.tree()));
    REQUIRE(stacks.restarts() == expected.restarts());
    REQUIRE(stacks.cut() == expected.cut());
  }
  CHECK(merged > rounds(1000));
}

}  // namespace htmtrace
