// SPDX-License-Identifier: GPL-2.0-or-later
// Inlined functions in call stacks.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "core/analysis/symbol_table.h"
#include "core/call_stacks/call_stacks.h"
#include "core/call_stacks/stack_tree.h"
#include "tests/unit/analysis/folded_stacks.h"
#include "tests/unit/instruction_run.h"

namespace htmtrace {
namespace {

constexpr uint64_t kOuterCode = 0x10001000, kMixedCode = 0x10002000, kCalledCode = 0x10003000;
constexpr uint64_t kKernelEntry = 0xc000000000004900;
constexpr uint32_t kToInterrupted = 0x4c000024;  // rfid

SymbolTable symbols_of_mixed() {
  SymbolTable symbols;
  symbols.add({.address = kOuterCode, .size_bytes = 0x100, .name = "main"});
  symbols.add({.address = kMixedCode, .size_bytes = 0x100, .name = "work"});
  symbols.add({.address = kCalledCode, .size_bytes = 0x100, .name = "leaf"});
  symbols.add({.address = kKernelEntry, .size_bytes = 0x100, .name = "decrementer"});
  symbols.finish();
  return symbols;
}

}  // namespace

TEST_CASE("call stacks: inlined functions") {
  const SymbolTable symbols = symbols_of_mixed();
  size_t lookups = 0;
  // work contains middle, and middle contains inner. main contains early.
  const FindInlined find = [&](EffectiveAddr address) -> InlinedFunctions {
    lookups++;
    const uint64_t ea = address.value;
    if (ea < kOuterCode + 8) return {.begin = 0, .end = kOuterCode + 8, .names = {"early"}};
    if (ea >= kMixedCode + 4 && ea < kMixedCode + 12) {
      return {.begin = kMixedCode + 4, .end = kMixedCode + 12, .names = {"middle"}};
    }
    if (ea >= kMixedCode + 12 && ea < kMixedCode + 20) {
      return {.begin = kMixedCode + 12, .end = kMixedCode + 20, .names = {"middle", "inner"}};
    }
    if (ea < kMixedCode) return {.begin = kOuterCode + 8, .end = kMixedCode, .names = {}};
    if (ea < kMixedCode + 4) return {.begin = kMixedCode, .end = kMixedCode + 4, .names = {}};
    return {.begin = kMixedCode + 20, .end = ~uint64_t{0}, .names = {}};
  };
  CallStacks stacks(symbols, CallTree::Detail::kFunctions, find);
  const StackTree* tree = nullptr;
  const auto calls_of = [&](const char* name) {
    for (StackTree::Stack stack = 1; stack < tree->size(); stack++) {
      if (tree->name(stack) == name) return tree->calls(stack);
    }
    return uint64_t{0};
  };

  SUBCASE("the calls below inlined functions") {
    run(stacks, kOuterCode, {kNop, kNop, kNop, call(kOuterCode + 12, kMixedCode)});
    run(stacks, kMixedCode, {kNop, kNop, kNop, kNop, call(kMixedCode + 16, kCalledCode)});
    run(stacks, kCalledCode, {kNop, kBlr});
    run(stacks, kMixedCode + 20, {kNop, kBlr});
    run(stacks, kOuterCode + 16, {call(kOuterCode + 16, kOuterCode)});
    run(stacks, kOuterCode, {kNop, kBlr});
    run(stacks, kOuterCode + 20, {kNop});
    CHECK(folded(stacks.tree()) ==
          "[unknown callers];main 4\n"
          "[unknown callers];main;early (inlined) 2\n"
          "[unknown callers];main;main;early (inlined) 2\n"
          "[unknown callers];main;work 3\n"
          "[unknown callers];main;work;middle (inlined) 2\n"
          "[unknown callers];main;work;middle (inlined);inner (inlined) 2\n"
          "[unknown callers];main;work;middle (inlined);inner (inlined);leaf 2\n");
    const StackTree calls(stacks.tree());
    tree = &calls;
    CHECK(calls_of("work") == 1);
    CHECK(calls_of("leaf") == 1);
    // All instructions of the inner main are inlined, and the call is a call of main.
    for (StackTree::Stack stack = 1; stack < calls.size(); stack++) {
      if (calls.name(stack) != "main") continue;
      CHECK(calls.calls(stack) == 1);
      CHECK_FALSE(calls.is_inlined(stack));
    }
  }
  SUBCASE("a loop looks up each part once") {
    for (int i = 0; i < 100; i++) {
      run(stacks, kMixedCode,
          {kNop, kNop, kNop, kNop, kNop, kNop, jump(kMixedCode + 24, kMixedCode)});
    }
    CHECK(lookups == 4);
    CHECK(folded(stacks.tree()) ==
          "[unknown callers];work 300\n"
          "[unknown callers];work;middle (inlined) 200\n"
          "[unknown callers];work;middle (inlined);inner (inlined) 200\n");
  }
  SUBCASE("an interrupt between a call from inlined code and the first instruction of the callee") {
    run(stacks, kMixedCode, {kNop, kNop, kNop, kNop, call(kMixedCode + 16, kCalledCode)});
    run(stacks, kKernelEntry, {kNop, kToInterrupted});
    run(stacks, kCalledCode, {kNop, kBlr});
    CHECK(folded(stacks.tree()) ==
          "[unknown callers];work 1\n"
          "[unknown callers];work;middle (inlined) 2\n"
          "[unknown callers];work;middle (inlined);inner (inlined) 2\n"
          "[unknown callers];work;middle (inlined);inner (inlined);decrementer 2\n"
          "[unknown callers];work;middle (inlined);inner (inlined);leaf 2\n");
  }
  SUBCASE("a return from an interrupt reveals the functions of the interrupted instruction") {
    run(stacks, kKernelEntry, {kNop, kToInterrupted});
    run(stacks, kMixedCode + 12, {kNop});
    CHECK(folded(stacks.tree()) ==
          "[unknown callers];work;middle (inlined);inner (inlined) 1\n"
          "[unknown callers];work;middle (inlined);inner (inlined);decrementer 2\n");
  }
  SUBCASE("a return to the begin of a function reveals no functions of the code before it") {
    run(stacks, kCalledCode, {kNop, kBlr});
    run(stacks, kOuterCode, {kNop});
    CHECK(folded(stacks.tree()) ==
          "[unknown callers];main;early (inlined) 1\n"
          "[unknown callers];main;leaf 2\n");
  }
  SUBCASE("a return reveals inlined callers") {
    run(stacks, kCalledCode, {kNop, kBlr});
    run(stacks, kMixedCode + 20, {kNop, kBlr});
    run(stacks, kOuterCode + 8, {kNop});
    CHECK(folded(stacks.tree()) ==
          "[unknown callers];main 1\n"
          "[unknown callers];main;early (inlined);work 2\n"
          "[unknown callers];main;early (inlined);work;middle (inlined);inner (inlined);leaf 2\n");
  }
}

}  // namespace htmtrace
