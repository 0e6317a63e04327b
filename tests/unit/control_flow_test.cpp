// SPDX-License-Identifier: GPL-2.0-or-later
// Basic blocks and call stacks of programs that are known by construction.
#include "core/control_flow.h"

#include <doctest/doctest.h>

#include "core/call_stacks.h"
#include "output/block_vector_writer.h"
#include "output/input_file.h"
#include "tests/unit/instruction_run.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

constexpr uint32_t kJump = 0x48000000;   // b
constexpr uint32_t kMaybe = 0x40820008;  // bne
constexpr uint32_t kSystemCall = 0x44000002;
constexpr uint32_t kInterruptReturn = 0x4c000024;

SymbolTable some_symbols() {
  SymbolTable symbols;
  symbols.add({.address = 0x1000, .size_bytes = 0x100, .name = "main"});
  symbols.add({.address = 0x2000, .size_bytes = 0x100, .name = "work"});
  symbols.add({.address = 0x3000, .size_bytes = 0, .name = "leaf"});
  symbols.add({.address = 0xc00, .size_bytes = 0x100, .name = "system_call"});
  symbols.finish();
  return symbols;
}

std::string written_text(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = InputFile::open(path).read_all(1 << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("kinds of branches") {
  CHECK(branch_kind(kNop) == BranchKind::kNone);
  CHECK(branch_kind(kJump) == BranchKind::kUnconditional);
  CHECK(branch_kind(kMaybe) == BranchKind::kConditional);
  CHECK(branch_kind(0x4d820020) == BranchKind::kConditional);    // beqlr
  CHECK(branch_kind(0x42000008) == BranchKind::kConditional);    // bdnz
  CHECK(branch_kind(0x4e800420) == BranchKind::kUnconditional);  // bctr
  CHECK(branch_kind(kSystemCall) == BranchKind::kUnconditional);
  CHECK(branch_kind(kInterruptReturn) == BranchKind::kUnconditional);
  CHECK(branch_kind(0x4c00012c) == BranchKind::kNone);  // isync
  CHECK(sets_link(kCall));
  CHECK(sets_link(0x4e800421));  // bctrl
  CHECK_FALSE(sets_link(kJump));
  CHECK(returns_by_link(kReturn));
  CHECK_FALSE(returns_by_link(0x4e800021));  // blrl
}

TEST_CASE("call stacks: calls, returns, interrupts and system calls") {
  const SymbolTable symbols = some_symbols();
  CallStacks stacks(symbols);
  run(stacks, 0x1000, {kNop, kCall});                  // main: 2
  run(stacks, 0x2000, {kNop, kNop, kCall});            // main;work: 3
  run(stacks, 0x3000, {kNop, kReturn});                // main;work;leaf: 2
  run(stacks, 0x200c, {kSystemCall});                  // main;work: 1
  run(stacks, 0xc00, {kNop, kNop, kInterruptReturn});  // main;work;system_call: 3
  run(stacks, 0x2010, {kNop});                         // main;work: 1, and an interrupt
  run(stacks, 0x3000, {kInterruptReturn});             // main;work;leaf: 1
  run(stacks, 0x2014, {kMaybe, kReturn});              // main;work: 2
  run(stacks, 0x1008, {kJump});                        // main: 1
  run(stacks, 0x3000, {kNop});                         // leaf: 1, instead of main
  CHECK(stacks.folded() ==
        "leaf 1\n"
        "main 3\n"
        "main;work 7\n"
        "main;work;leaf 3\n"
        "main;work;system_call 3\n");
  CHECK(stacks.restarts() == 1);
  CHECK(stacks.cut() == 0);
}

TEST_CASE("call stacks: without names, and where nothing is known") {
  const SymbolTable none;
  CallStacks stacks(none);
  run(stacks, 0x1000, {kCall});
  run(stacks, 0x2000, {kCall});
  run(stacks, 0x2004, {kCall});  // to learn its address: no call; then one
  run(stacks, 0x3000, {kReturn});
  run(stacks, 0x2008, {kReturn});
  run(stacks, 0x1004, {kReturn});  // to whoever called it
  run(stacks, 0x5000, {kNop});
  stacks.defect({});
  run(stacks, 0x5004, {kNop});
  Instruction nameless;
  stacks.instruction(nameless);
  CHECK(stacks.folded() ==
        "[unknown] 4\n"
        "[unknown];2000 3\n"
        "[unknown];2000;3000 1\n");
  CHECK(stacks.restarts() == 3);
  CHECK(stacks.unknown() == 1);
}

TEST_CASE("basic-block vectors") {
  const TemporaryFolder folder;
  TextOutput vectors = TextOutput::create(folder.path() / "vectors", false);
  BlockVectorWriter writer(vectors, 6);
  run(writer, 0x1000, {kNop, kMaybe, kNop, kJump});  // two blocks of 2
  run(writer, 0x1000, {kNop, kMaybe});               // the first again; the interval is over
  run(writer, 0x2000, {kNop, kNop});                 // an interrupt behind it
  run(writer, 0x1004, {kMaybe});                     // in the middle of the first
  writer.skipped();
  run(writer, 0x1008, {kNop});
  writer.finish();
  vectors.finish();
  CHECK(written_text(folder.path() / "vectors") ==
        "T:1:4 :2:2 \n"
        "T:3:2 :4:1 :2:1 \n");
  TextOutput list = TextOutput::create(folder.path() / "blocks", false);
  writer.put_blocks(list);
  list.finish();
  CHECK(written_text(folder.path() / "blocks") ==
        "number,address,entries,instructions\n"
        "1,0x0000000000001000,2,4\n"
        "2,0x0000000000001008,2,3\n"
        "3,0x0000000000002000,1,2\n"
        "4,0x0000000000001004,1,1\n");
  CHECK(writer.intervals() == 2);
}

}  // namespace htmtrace
