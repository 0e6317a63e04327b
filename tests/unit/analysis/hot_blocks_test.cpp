// SPDX-License-Identifier: GPL-2.0-or-later
// Hot blocks and their edges, for programs that are known by construction.
#include "core/analysis/hot_blocks.h"

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "output/report/hot_blocks_report.h"
#include "output/symbols/disassembler.h"
#include "tests/unit/instruction_run.h"

namespace htmtrace {
namespace {

constexpr uint32_t kAdd = 0x38630001;     // addi r3,r3,1
constexpr uint32_t kLoop = 0x4200fff8;    // bdnz .-8
constexpr uint32_t kPrefix = 0x06000000;  // of paddi

std::map<uint64_t, HotBlock> all(const HotBlocks& blocks) {
  std::map<uint64_t, HotBlock> found;
  for (const auto& [address, block] : blocks.blocks().entries()) found[address] = block;
  return found;
}

std::map<uint64_t, uint64_t> successors(const HotBlock& block) {
  std::map<uint64_t, uint64_t> found;
  for (const auto& [to, count] : block.successors.sorted()) found[to] = count;
  return found;
}

using Edges = std::map<uint64_t, uint64_t>;

// A loop of 2 instructions without calls. 0x1000 enters it at its begin. The loop exits to a call
// of 0x3000, which returns to the instruction after the call.
void run_program(HotBlocks& blocks, unsigned rounds) {
  run(blocks, 0x1000, {kNop, kNop, kAdd, kLoop});
  for (unsigned i = 1; i < rounds; i++) run(blocks, 0x1008, {kAdd, kLoop});
  run(blocks, 0x1010, {kBl});
  run(blocks, 0x3000, {kNop, kBlr});
  run(blocks, 0x1014, {kNop});
}

const SymbolTable kNoSymbols;

SymbolTable some_symbols() {
  SymbolTable symbols;
  symbols.add({.address = 0x1000, .size_bytes = 0x100, .name = "main"});
  symbols.add({.address = 0x3000, .size_bytes = 0x100, .name = "leaf"});
  symbols.finish();
  return symbols;
}

HotBlocksReport report_of(const HotBlocks& blocks, const SymbolTable& symbols, size_t top = 20) {
  return {.blocks = blocks, .symbols = symbols, .totals = {}, .traces = 1, .top = top};
}

// The report of a program that is cut into parts after every `most` events.
std::string report_in_parts(size_t most) {
  const SymbolTable symbols = some_symbols();
  HotBlocks blocks(1000, symbols);
  HotBlockPart part = blocks.new_part();
  // One address has different words.
  const auto word_at = [](uint64_t ea, uint64_t choice) {
    if (ea != 0x1010 || choice < 60) return kNop;
    return choice < 90 ? kBlr : kAdd;
  };
  run_in_parts(part, most, 12, word_at, [&blocks](HotBlockPart& ended) { blocks.take(ended); });
  blocks.end_trace();
  return report_of(blocks, symbols, 1000).to_json();
}

}  // namespace

TEST_CASE("blocks and edges of a loop, a call and a return") {
  HotBlocks blocks(100, kNoSymbols);
  run_program(blocks, 10);
  blocks.end_trace();
  CHECK(blocks.instructions() == 4 + 18 + 1 + 2 + 1);
  CHECK(blocks.executions() == 1 + 9 + 1 + 1 + 1);
  CHECK(blocks.unknown() == 0);
  const auto found = all(blocks);
  REQUIRE(found.size() == 5);
  const HotBlock& loop = found.at(0x1008);
  CHECK(loop.executions == 9);
  CHECK(loop.count == 18);
  CHECK(loop.longest == 2);
  CHECK(loop.words == std::vector<uint32_t>{kAdd, kLoop});
  CHECK(successors(loop) == Edges{{0x1008, 8}, {0x1010, 1}});
  CHECK(successors(found.at(0x1000)) == Edges{{0x1008, 1}});
  CHECK(successors(found.at(0x1010)) == Edges{{0x3000, 1}});
  CHECK(successors(found.at(0x3000)) == Edges{{0x1014, 1}});
  CHECK(successors(found.at(0x1014)).empty());
  CHECK(found.at(0x1014).executions - found.at(0x1014).followed == 1);
}

TEST_CASE("no edge crosses omitted instructions") {
  HotBlocks blocks(100, kNoSymbols);
  run(blocks, 0x1000, {kNop, kLoop});
  blocks.defect({});
  run(blocks, 0x1000, {kNop, kLoop});
  Stamp loss;
  loss.losses.records = 1;
  blocks.stamp(loss);
  run(blocks, 0x1000, {kNop});  // truncated: the branch follows
  blocks.skipped();
  blocks.skipped();
  run(blocks, 0x1004, {kLoop});
  blocks.stamp({});  // a stamp without loss
  run(blocks, 0x1000, {kNop});
  Instruction nameless;
  blocks.instruction(nameless);
  blocks.end_trace();
  const auto found = all(blocks);
  REQUIRE(found.size() == 2);
  CHECK(found.at(0x1000).executions == 4);
  CHECK(found.at(0x1000).count == 6);
  CHECK(found.at(0x1000).followed == 0);
  CHECK(successors(found.at(0x1004)) == Edges{{0x1000, 1}});
  CHECK(blocks.unknown() == 1);
  CHECK(blocks.executions() == 5);
}

TEST_CASE("an interrupt ends a block, and an entry into its middle makes another block") {
  HotBlocks blocks(100, kNoSymbols);
  run(blocks, 0x1000, {kNop, kNop});
  run(blocks, 0xc00, {kNop, 0x4c000024});  // and rfid
  run(blocks, 0x1008, {kNop, kBlr});
  run(blocks, 0x1000, {kNop, kNop, kNop, kBlr});
  blocks.end_trace();
  const auto found = all(blocks);
  CHECK(found.at(0x1000).longest == 4);
  CHECK(found.at(0x1000).words.size() == 4);
  CHECK(successors(found.at(0x1000)) == Edges{{0xc00, 1}});
  CHECK(successors(found.at(0xc00)) == Edges{{0x1008, 1}});
  CHECK(successors(found.at(0x1008)) == Edges{{0x1000, 1}});
}

TEST_CASE("prefixed instructions have two words and end no block") {
  HotBlocks blocks(100, kNoSymbols);
  Instruction paddi = one(0x1004, 0x4bffffff);  // a suffix that alone would be a branch
  paddi.prefix = kPrefix;
  paddi.has_prefix = true;
  run(blocks, 0x1000, {kNop});
  blocks.instruction(paddi);
  run(blocks, 0x100c, {kBlr});
  blocks.end_trace();
  const auto found = all(blocks);
  REQUIRE(found.size() == 1);
  CHECK(found.at(0x1000).count == 3);
  CHECK(found.at(0x1000).words == std::vector<uint32_t>{kNop, kPrefix, 0x4bffffff, kBlr});
  const std::string text = report_of(blocks, {}).to_text();
  CHECK(text.find("    0000000000001004  06000000 4bffffff") != std::string::npos);
  CHECK(text.find("    000000000000100c  4e800020") != std::string::npos);
}

TEST_CASE("long blocks are truncated, and other code at the same address is reported") {
  HotBlocks blocks(100, kNoSymbols);
  for (uint64_t i = 0; i < 1000; i++) blocks.instruction(one(0x1000 + 4 * i, kNop));
  blocks.skipped();
  run(blocks, 0x1000, {kNop, kBlr});
  blocks.end_trace();
  const HotBlock block = all(blocks).at(0x1000);
  CHECK(block.longest == 1000);
  CHECK(block.words.size() == BlockRun::kMostWords);
  CHECK(block.rewritten == 1);
  const std::string text = report_of(blocks, {}).to_text();
  CHECK(text.find("    ...\n    1 execution had other instructions here\n") != std::string::npos);
  CHECK(report_of(blocks, {}).to_json().find("\"code_is_cut\": true") != std::string::npos);
}

TEST_CASE(
    "with more blocks than the table holds, hot blocks stay and the report states the limit") {
  HotBlocks blocks(32, kNoSymbols);
  for (uint64_t i = 0; i < 2000; i++) {
    run(blocks, 0x1000, {kAdd, kLoop});
    run(blocks, 0x1000, {kAdd, kLoop});
    run(blocks, 0x100000 + 0x100 * i, {kBlr});
  }
  blocks.end_trace();
  const uint64_t error = blocks.blocks().error();
  CHECK(error > 0);
  const auto top = blocks.blocks().top(1);
  REQUIRE(top.size() == 1);
  CHECK(top.front().key == 0x1000);
  CHECK(top.front().entry.count <= 8000);
  CHECK(top.front().entry.count + error >= 8000);
  // One frequent successor, and many successors that occur once.
  const auto next = top.front().entry.successors.sorted();
  REQUIRE(!next.empty());
  CHECK(next.front().value == 0x1000);
  CHECK(next.front().count > 1000);
  const std::string text = report_of(blocks, {}, 1).to_text();
  CHECK(text.find("counts may be too small by at most") != std::string::npos);
  CHECK(text.find("%  at least ") != std::string::npos);
  CHECK(text.find(" others\n") != std::string::npos);
}

TEST_CASE("hot blocks as text, json and csv") {
  HotBlocks blocks(100, kNoSymbols);
  run_program(blocks, 10);
  blocks.end_trace();
  const SymbolTable symbols = some_symbols();
  const HotBlocksReport report = report_of(blocks, symbols, 1);
  std::string expected =
      "1 trace: 0 bytes, 0 instructions, 0 losses, 0 defects\n"
      "26 instructions reported, 13 executions of basic blocks\n"
      "\n"
      "hot blocks\n"
      "  instructions   share     executions     mean  longest  address           function\n"
      "            18  69.23%              9     2.00        2  0000000000001008  main+0x8\n"
      "    0000000000001008  38630001           addi r3,r3,1\n"
      "    000000000000100c  4200fff8           bdnz 0x1004\n"
      "  ->              8  88.89%  0000000000001008  main+0x8\n"
      "  ->              1  11.11%  0000000000001010  main+0x10\n";
  if (!can_disassemble()) {
    for (const char* assembly : {"           addi r3,r3,1", "           bdnz 0x1004"}) {
      expected.replace(expected.find(assembly), std::string_view(assembly).size(), "");
    }
  }
  CHECK(report.to_text() == expected);
  CHECK(report.to_csv() ==
        "ea,symbol,instructions,executions,longest,error,to,to_symbol,followed,values,"
        "ticks,timed_instructions,predicted_cycles\n"
        "0x0000000000001008,main+0x8,18,9,2,0,0x0000000000001008,main+0x8,8,1,0,0,\n"
        "0x0000000000001008,main+0x8,18,9,2,0,others,,1,1,0,0,\n");
  const nlohmann::json json = nlohmann::json::parse(report.to_json());
  CHECK(json.at("format") == "htmtrace-hot-blocks");
  CHECK(json.at("instructions") == 26);
  const nlohmann::json& block = json.at("blocks").at(0);
  CHECK(block.at("ea") == "0x0000000000001008");
  CHECK(block.at("successors").at(0).at("symbol") == "main+0x8");
  CHECK(block.at("successors").at(0).at("executions") == 8);
  CHECK(block.at("other_successors").at("executions") == 1);
  CHECK(block.at("unknown_successors") == 0);
  CHECK(block.at("code").at(1).at("words") == "4200fff8");
  CHECK(block.at("code").at(1).contains("asm") == can_disassemble());
}

TEST_CASE("the local entry of a function is marked, and its address matches nm") {
  HotBlocks blocks(100, kNoSymbols);
  run(blocks, 0x1000, {kBl});
  run(blocks, 0x3008, {kBlr});
  blocks.end_trace();
  SymbolTable symbols;
  symbols.add({.address = 0x3000, .size_bytes = 0x100, .name = "leaf", .local_entry_bytes = 8});
  symbols.finish();
  const std::string text = report_of(blocks, symbols).to_text();
  CHECK(text.find("  0000000000003008  leaf+0x8 (local entry)\n") != std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(report_of(blocks, symbols).to_json());
  const nlohmann::json& edge = json.at("blocks").at(0).at("successors").at(0);
  CHECK(edge.at("ea") == "0x0000000000003008");
  CHECK(edge.at("function") == "0x0000000000003000");
  CHECK(edge.at("is_entry") == true);
}

TEST_CASE("the four most frequent successors are shown, and the others are summed") {
  HotBlocks blocks(100, kNoSymbols);
  for (uint64_t i = 0; i < 6; i++) {
    for (uint64_t k = 0; k <= i; k++) {
      run(blocks, 0x1000, {kNop, kBlr});
      run(blocks, 0x2000 + 0x100 * i, {kBlr});
    }
  }
  run(blocks, 0x1000, {kNop, kBlr});
  blocks.end_trace();
  const std::string text = report_of(blocks, {}, 1).to_text();
  CHECK(
      text.find("  ->              6  27.27%  0000000000002500\n"
                "  ->              5  22.73%  0000000000002400\n"
                "  ->              4  18.18%  0000000000002300\n"
                "  ->              3  13.64%  0000000000002200\n"
                "  ->              3  13.64%  2 others\n"
                "  ->              1   4.55%  unknown: the report omits the next instruction\n") !=
      std::string::npos);
  // One block: one successor is shown, and the others are summed.
  CHECK(report_of(blocks, {}, 1).to_csv().find(",others,,15,5,") != std::string::npos);
  const std::string all_of_them = report_of(blocks, {}, 20).to_csv();
  CHECK(all_of_them.find("others") == std::string::npos);
  CHECK(all_of_them.find("0x0000000000002000,,1,1,") != std::string::npos);
}

TEST_CASE("the ticks between two stamps belong to the only block between them") {
  HotBlocks blocks(100, kNoSymbols);
  const auto stamp = [&blocks](uint32_t elapsed, StampKind kind = StampKind::kTime) {
    Stamp one;
    one.kind = kind;
    one.elapsed = elapsed;
    blocks.stamp(one);
  };
  const auto loop = [&blocks](unsigned rounds) {
    for (unsigned i = 0; i < rounds; i++) run(blocks, 0x1008, {kAdd, kLoop});
  };
  loop(1);
  stamp(1000);  // the trace begins without a stamp
  loop(3);
  stamp(60);
  run(blocks, 0x1008, {kAdd});
  stamp(7);  // inside an execution
  run(blocks, 0x100c, {kLoop});
  loop(1);
  stamp(23);
  loop(1);
  run(blocks, 0x1010, {kBl});
  stamp(500);  // two blocks
  run(blocks, 0x3000, {kNop, kBlr});
  stamp(9, StampKind::kMark);  // has no ticks
  run(blocks, 0x1014, {kBlr});
  stamp(11);
  run(blocks, 0x1014, {kBlr});
  blocks.defect({});
  run(blocks, 0x1014, {kBlr});
  stamp(13);  // a gap
  run(blocks, 0x1014, {kBlr});
  Stamp loss;
  loss.kind = StampKind::kTime;
  loss.elapsed = 17;
  loss.losses.records = 1;
  blocks.stamp(loss);
  blocks.end_trace();

  const std::map<uint64_t, HotBlock> found = all(blocks);
  CHECK(found.at(0x1008).time.ticks == 60 + 7 + 23);
  CHECK(found.at(0x1008).time.instructions == 6 + 1 + 3);
  CHECK(found.at(0x1010).time.instructions == 0);
  CHECK(found.at(0x3000).time.instructions == 0);
  CHECK(found.at(0x1014).time.ticks == 11);
  CHECK(found.at(0x1014).time.instructions == 1);
  // 90 ticks for 10 instructions, 2 of which are an execution.
  const std::string text = report_of(blocks, {}).to_text();
  CHECK(text.find("     mean  longest      ticks  address ") != std::string::npos);
  CHECK(text.find("     2.00        2      18.00  0000000000001008\n") != std::string::npos);
  CHECK(text.find("     2.00        2          -  0000000000003000\n") != std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(report_of(blocks, {}, 1).to_json());
  CHECK(json.at("blocks").at(0).at("ticks") == 90);
  CHECK(json.at("blocks").at(0).at("timed_instructions") == 10);
}

TEST_CASE("the ticks of blocks do not depend on the parts") {
  const auto report_cut_after = [](size_t most) {
    HotBlocks blocks(1000, kNoSymbols);
    HotBlockPart part = blocks.new_part();
    generator::Random random(3);
    size_t events = 0;
    const auto cut = [&] {
      if (++events % most == 0) blocks.take(part);
    };
    for (size_t i = 0; i < 2000; i++) {
      const uint64_t begin = 0x1000 + 0x100 * random.below(3);
      const uint64_t rounds = 1 + random.below(6);
      for (uint64_t round = 0; round < rounds; round++) {
        for (uint64_t at = 0; at < 4; at++) {
          if (random.below(8) == 0) {
            Stamp stamp;
            stamp.kind = StampKind::kTime;
            stamp.elapsed = static_cast<uint32_t>(random.below(100));
            part.stamp(stamp);
            cut();
            if (random.below(3) == 0) part.stamp(stamp);
            cut();
          }
          if (random.below(200) == 0) part.defect({});
          part.instruction(one(begin + 4 * at, at == 3 ? kLoop : kAdd));
          cut();
        }
      }
    }
    blocks.take(part);
    blocks.end_trace();
    return report_of(blocks, kNoSymbols, 1000).to_json();
  };
  const std::string expected = report_cut_after(1'000'000);
  const nlohmann::json json = nlohmann::json::parse(expected);
  CHECK(json.at("blocks").at(0).at("timed_instructions") > 1000);
  for (const size_t most : {1, 2, 3, 5, 7, 100}) CHECK(report_cut_after(most) == expected);
}

TEST_CASE("the counts of blocks do not depend on the parts") {
  const std::string expected = report_in_parts(1);
  for (const size_t most : {2, 3, 50, 1000}) CHECK(report_in_parts(most) == expected);
}

}  // namespace htmtrace
