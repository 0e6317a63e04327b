// SPDX-License-Identifier: GPL-2.0-or-later
// Executions of addresses, outcomes of branches and entries of blocks, from the edges of a trace.
#include "core/coverage/flow.h"

#include <doctest/doctest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/instruction_run.h"

namespace htmtrace {
namespace {

// Power ISA 3.1: beq without its displacement, bnelr, bctr, scv 0.
constexpr uint32_t kBeq = 0x41820000, kBnelr = 0x4c820020, kToCtr = 0x4e800420;
constexpr uint32_t kScv = 0x44000001;
constexpr uint64_t kTimer = 0xc000000000004900;  // an interrupt vector

uint32_t beq(uint64_t from, uint64_t to) {
  return kBeq | (static_cast<uint32_t>(to - from) & 0xfffc);
}

// One program file, from 0x1000 to 0x9000.
class CoveredProgram {
 public:
  Flow flow() {
    edges.end_trace();
    return Flow(edges, edges.files().files().at(0));
  }
  // The handler of an interrupt.
  void interrupt() { run(edges, kTimer, {kNop, 0x4c000024 /* rfid */}); }

  static SymbolTable table() {
    SymbolTable symbols;
    symbols.add_file({.path = "program", .distance = 0, .begin = 0x1000, .end = 0x9000});
    symbols.finish();
    return symbols;
  }
  const SymbolTable symbols = table();
  CodeEdges edges{symbols};
};

std::string text_of(const Flow::Branch& branch) {
  return std::to_string(branch.taken) + " " + std::to_string(branch.not_taken) + " " +
         std::to_string(branch.unknown);
}

// The entries of the blocks that have code from `begin` to `end`.
uint64_t entries_of(const Flow& flow, std::initializer_list<std::pair<uint64_t, uint64_t>> ranges) {
  std::vector<uint32_t> set;
  for (uint32_t i = 0; i < flow.blocks().size(); i++) {
    for (const auto& [begin, end] : ranges) {
      if (flow.blocks()[i].begin < end && flow.blocks()[i].end > begin) {
        set.push_back(i);
        break;
      }
    }
  }
  return flow.entries(set);
}

}  // namespace

TEST_CASE("edges give the executions of each address") {
  CoveredProgram all;
  for (int i = 0; i < 3; i++) run(all.edges, 0x2000, {kNop, kNop, beq(0x2008, 0x2000)});
  run(all.edges, 0x200c, {kNop, kBlr});
  run(all.edges, 0x20000, {kNop});  // other code
  run(all.edges, 0x2010, {kBlr});
  const Flow flow = all.flow();
  CHECK(flow.executions(0x1ffc) == 0);
  CHECK(flow.executions(0x2000) == 3);
  CHECK(flow.executions(0x2008) == 3);
  CHECK(flow.executions(0x200c) == 1);
  CHECK(flow.executions(0x2010) == 2);
  CHECK(flow.executions(0x2014) == 0);
  REQUIRE(flow.branches().size() == 1);
  CHECK(flow.branches()[0].address == 0x2008);
  CHECK(text_of(flow.branches()[0]) == "2 1 0");
  CHECK(flow.block_at(0x2014) == Flow::kNone);
  CHECK(flow.first_after(0) == 0);
  CHECK(flow.first_after(0x2014) == flow.blocks().size());
}

TEST_CASE("the executions equal those of a random program, in parts of any size") {
  for (const size_t most : {1, 7, 1000, 100000}) {
    CAPTURE(most);
    CoveredProgram all;
    std::map<uint64_t, uint64_t> counts;
    class Counted {
     public:
      void instruction(const Instruction& instruction) {
        if (instruction.has_ea) counts_[instruction.ea.value]++;
        part.instruction(instruction);
      }
      void defect(const Defect& defect) { part.defect(defect); }
      EdgePart part;
      std::map<uint64_t, uint64_t>& counts_;
    };
    Counted counted{all.edges.new_part(), counts};
    const auto word_at = [](uint64_t ea, uint64_t) {
      switch (ea / 4 % 7) {
        case 1:
          return beq(ea, ea - 16);
        case 3:
          return kBlr;
        default:
          return kNop;
      }
    };
    run_in_parts(counted, most, 500, word_at, [&](Counted& full) { all.edges.take(full.part); });
    const Flow flow = all.flow();
    uint64_t wrong = 0;
    for (uint64_t ea = 0x1000; ea < 0x9000; ea += 4) {
      const auto known = counts.find(ea);
      if (flow.executions(ea) != (known == counts.end() ? 0 : known->second)) wrong++;
    }
    CHECK(wrong == 0);
    CHECK(flow.branches().size() > 50);
    for (const Flow::Branch& branch : flow.branches()) {
      CHECK(branch.taken + branch.not_taken + branch.unknown == counts[branch.address]);
    }
    CHECK(all.edges.without_address() > 100);
  }
}

TEST_CASE("an interrupt hides no outcome of a branch") {
  CoveredProgram all;
  // The branch is taken once, not taken twice, and each time an interrupt follows.
  run(all.edges, 0x2000, {beq(0x2000, 0x2100)});
  all.interrupt();
  run(all.edges, 0x2100, {kBlr});
  for (int i = 0; i < 2; i++) {
    run(all.edges, 0x2000, {beq(0x2000, 0x2100)});
    all.interrupt();
    run(all.edges, 0x2004, {kBlr});
  }
  const Flow flow = all.flow();
  REQUIRE(flow.branches().size() == 1);
  CHECK(text_of(flow.branches()[0]) == "1 2 0");
}

TEST_CASE("a loss hides an outcome") {
  CoveredProgram all;
  run(all.edges, 0x2000, {beq(0x2000, 0x2100)});
  all.edges.defect({});
  run(all.edges, 0x3000, {kBlr});
  run(all.edges, 0x2000, {beq(0x2000, 0x2100), kNop});
  const Flow flow = all.flow();
  REQUIRE(flow.branches().size() == 1);
  CHECK(text_of(flow.branches()[0]) == "0 1 1");
}

TEST_CASE("branches to registers: taken to other code, not taken, interrupted") {
  CoveredProgram all;
  run(all.edges, 0x2000, {kBnelr});
  run(all.edges, 0x20000, {kNop});
  run(all.edges, 0x2000, {kBnelr, kBlr});
  run(all.edges, 0x2000, {kBnelr});
  all.interrupt();
  run(all.edges, 0x20004, {kNop});
  const Flow flow = all.flow();
  REQUIRE(flow.branches().size() == 1);
  CHECK(text_of(flow.branches()[0]) == "1 1 1");
}

TEST_CASE("calls, system calls and interrupts do not enter code again") {
  CoveredProgram all;
  for (int i = 0; i < 5; i++) {
    run(all.edges, 0x2000, {kNop, call(0x2004, 0x3000)});
    run(all.edges, 0x3000, {kNop, kBlr});
    run(all.edges, 0x2008, {kScv});
    run(all.edges, kTimer, {kNop});
    run(all.edges, 0x200c, {kNop});
    all.interrupt();
    run(all.edges, 0x2010, {kBlr});
  }
  // A call that does not return.
  run(all.edges, 0x2000, {kNop, call(0x2004, 0x3000)});
  run(all.edges, 0x3000, {kNop});
  const Flow flow = all.flow();
  CHECK(flow.executions(0x2000) == 6);
  CHECK(flow.executions(0x2008) == 5);
  CHECK(entries_of(flow, {{0x2000, 0x2014}}) == 6);
  CHECK(entries_of(flow, {{0x2008, 0x2014}}) == 5);
  CHECK(flow.arrivals(0x3000, 0x3008) == 6);
}

TEST_CASE("each turn of a loop on one line is an entry") {
  CoveredProgram all;
  // for (A; C; B) body, as GCC compiles it without optimization: A jumps to C.
  for (int call = 0; call < 2; call++) {
    run(all.edges, 0x2000, {kNop, jump(0x2004, 0x2014)});
    for (int i = 0; i < 10; i++) {
      run(all.edges, 0x2014, {beq(0x2014, 0x2008)});
      run(all.edges, 0x2008, {kNop, kNop, kNop});
    }
    run(all.edges, 0x2014, {beq(0x2014, 0x2008), kBlr});
  }
  const Flow flow = all.flow();
  // The line of the for statement: A, B and C.
  CHECK(entries_of(flow, {{0x2000, 0x2008}, {0x2010, 0x2018}}) == 22);
  CHECK(entries_of(flow, {{0x2008, 0x2010}}) == 20);  // its body
  CHECK(entries_of(flow, {{0x2000, 0x201c}}) == 22);  // all on one line
  CHECK(entries_of(flow, {{0x2018, 0x201c}}) == 2);
}

TEST_CASE("a path that leaves the line and joins it again is one entry") {
  CoveredProgram all;
  for (int i = 0; i < 7; i++) {
    run(all.edges, 0x2000, {kNop, beq(0x2004, 0x2010)});
    if (i < 3) {
      run(all.edges, 0x2010, {jump(0x2010, 0x200c)});  // the code lies after the join
    } else {
      run(all.edges, 0x2008, {kNop});
    }
    run(all.edges, 0x200c, {kBlr});
  }
  const Flow flow = all.flow();
  CHECK(entries_of(flow, {{0x2000, 0x2014}}) == 7);
}

TEST_CASE("a switch enters its cases, and a loop back to the local entry is no call") {
  CoveredProgram all;
  run(all.edges, 0x2000, {kNop, kNop});
  for (int i = 0; i < 4; i++) run(all.edges, 0x2008, {kNop, jump(0x200c, 0x2008)});
  run(all.edges, 0x2008, {kToCtr});
  run(all.edges, 0x2010, {kBlr});
  run(all.edges, 0x2008, {kToCtr});
  run(all.edges, 0x2018, {kBlr});
  const Flow flow = all.flow();
  CHECK(flow.executions(0x2008) == 6);
  CHECK(flow.arrivals(0x2008, 0x2020) == 2);
  CHECK(flow.executions(0x2010) == 1);
  CHECK(flow.executions(0x2018) == 1);
}

TEST_CASE("one file at several addresses has one set of counts") {
  SymbolTable symbols;
  for (const uint64_t distance : {0x100000, 0x700000}) {
    symbols.begin_program(
        {.file = "lib", .begin = distance, .end = distance + 0x1000, .loads = {}, .texts = {}});
    symbols.end_program();
    symbols.add_file({.path = "lib",
                      .distance = distance,
                      .begin = distance,
                      .end = distance + 0x1000,
                      .program = symbols.programs().size() - 1});
  }
  symbols.finish();
  const CodeFiles files(symbols);
  REQUIRE(files.files().size() == 1);
  const CodeFiles::File& file = files.files()[0];
  const auto position = [&](uint64_t address, size_t program, bool proven) {
    return files.position_of(owned::with(address, owned::of_program(program, proven)));
  };
  CHECK(position(0x100040, 0, true) == file.position_of(0x40));
  CHECK(position(0x700040, 1, false) == file.position_of(0x40));
  CHECK(position(0x700040, 0, false) == 0);
  CHECK(position(0x101000, 0, true) == 0);
  CHECK(files.position_of(0x100040) == 0);
  CHECK(file.address_of(file.position_of(0x40)) == 0x40);
}

}  // namespace htmtrace
