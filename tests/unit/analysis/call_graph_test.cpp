// SPDX-License-Identifier: GPL-2.0-or-later
// The calls, the code and the jumps of programs that are known by construction.
#include "core/call_stacks/call_graph.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/call_stacks/call_edges.h"
#include "core/call_stacks/call_tree.h"
#include "tests/unit/analysis/call_edge_lines.h"
#include "tests/unit/analysis/folded_stacks.h"
#include "tests/unit/instruction_run.h"

namespace htmtrace {
namespace {

using NameCounts = std::map<std::string, uint64_t>;

constexpr uint64_t kOuter = 0x1000, kMiddle = 0x1100, kInner = 0x1200;
constexpr uint32_t kBranchBack = 0x4182fff8;  // beq .-8

SymbolTable nested_functions() {
  SymbolTable symbols;
  symbols.add({.address = kOuter, .size_bytes = 0x100, .name = "outer"});
  symbols.add({.address = kMiddle, .size_bytes = 0x100, .name = "middle"});
  symbols.add({.address = kInner, .size_bytes = 0x100, .name = "inner"});
  symbols.finish();
  return symbols;
}

// The instructions with each function in their stack.
NameCounts inclusive_by_stacks(const CallTree& tree) {
  NameCounts counts;
  std::istringstream lines(folded(tree));
  for (std::string line; std::getline(lines, line);) {
    const size_t end = line.rfind(' ');
    const uint64_t count = std::stoull(line.substr(end + 1));
    std::istringstream names(line.substr(0, end));
    std::set<std::string> seen;
    for (std::string name; std::getline(names, name, ';');) seen.insert(name);
    for (const std::string& name : seen) counts[name] += count;
  }
  return counts;
}

NameCounts inclusive_by_calls(const CallTree& tree) {
  NameCounts counts;
  for (const CallEdge& edge : call_edges(tree)) {
    counts[tree.name_of(edge.callee)] += edge.instructions;
  }
  return counts;
}

NameCounts executions_of(const CallGraph& graph) {
  std::map<std::string, uint64_t> counts;
  for (size_t i = 0; i < graph.blocks().size(); i++) {
    const CallGraph::Block& block = graph.blocks()[i].key;
    const std::string name = graph.tree().name_of(block.function);
    counts[name + ' ' + std::to_string(block.begin) + ' ' + std::to_string(block.instructions)] +=
        graph.executions()[i];
  }
  return counts;
}

}  // namespace

TEST_CASE("call graph: calls have their sites, and a recursion counts once") {
  const SymbolTable symbols = nested_functions();
  CallGraph graph(symbols);
  run(graph, kOuter, {kNop, call(kOuter + 4, kMiddle)});
  run(graph, kMiddle, {kNop, call(kMiddle + 4, kMiddle)});
  run(graph, kMiddle, {kNop, call(kMiddle + 4, kInner)});
  run(graph, kInner, {kBlr});
  run(graph, kMiddle + 8, {kBlr});
  run(graph, kMiddle + 8, {kBlr});
  run(graph, kOuter + 8, {kNop});
  graph.end_trace();
  CHECK(graph.instructions() == 10);
  CHECK(call_edge_lines(graph.tree()) == std::set<std::string>{
                                             "-@0 [unknown callers] 1 10",
                                             "[unknown callers]@0 outer 1 10",
                                             "outer@1004 middle 1 7",
                                             "middle@1104 middle 1 0",
                                             "middle@1104 inner 1 1",
                                         });
}

TEST_CASE("call graph: callers from before the trace have sites, too") {
  const SymbolTable symbols = nested_functions();
  CallGraph graph(symbols);
  run(graph, kInner + 8, {kNop, kBlr});
  run(graph, kMiddle + 8, {kBlr});
  run(graph, kOuter + 8, {kNop});
  graph.end_trace();
  CHECK(call_edge_lines(graph.tree()) == std::set<std::string>{
                                             "-@0 [unknown callers] 1 4",
                                             "[unknown callers]@0 outer 1 4",
                                             "outer@1004 middle 1 3",
                                             "middle@1104 inner 1 2",
                                         });
}

TEST_CASE("call graph: a tail call is a call by the outer caller") {
  const SymbolTable symbols = nested_functions();
  CallGraph graph(symbols);
  run(graph, kOuter, {call(kOuter, kMiddle)});
  run(graph, kMiddle, {jump(kMiddle, kInner)});
  run(graph, kInner, {kBlr});
  run(graph, kOuter + 4, {kNop});
  graph.end_trace();
  CHECK(call_edge_lines(graph.tree()).contains("outer@1000 middle 1 1"));
  CHECK(call_edge_lines(graph.tree()).contains("outer@1000 inner 1 1"));
  REQUIRE(graph.jumps().size() == 1);
  CHECK(graph.jumps()[0].key.from == kMiddle);
  CHECK(graph.jumps()[0].key.to == kInner);
  CHECK(graph.tree().name_of(graph.jumps()[0].key.to_function) == "inner");
}

TEST_CASE("call graph: jumps that were taken, and blocks that the selection ends") {
  const SymbolTable symbols = nested_functions();
  CallGraph graph(symbols);
  run(graph, kOuter, {kNop, kNop, kBranchBack});
  run(graph, kOuter, {kNop, kNop, kBranchBack});
  run(graph, kOuter + 12, {kNop});
  graph.unselected(one(kOuter + 16, kNop));
  run(graph, kOuter + 20, {kNop, kNop, kBranchBack});
  graph.defect({});
  run(graph, kOuter + 20, {kNop});
  graph.end_trace();
  CHECK(graph.instructions() == 11);
  REQUIRE(graph.jumps().size() == 1);
  CHECK(graph.jumps()[0].key.from == kOuter + 8);
  CHECK(graph.jumps()[0].entry.count == 1);
  CHECK(graph.jumps()[0].entry.is_conditional);
  CHECK(executions_of(graph) ==
        NameCounts{
            {"outer 4096 3", 2}, {"outer 4108 1", 1}, {"outer 4116 1", 1}, {"outer 4116 3", 1}});
}

TEST_CASE("call graph: a block ends at the end of the address space") {
  const SymbolTable symbols = nested_functions();
  CallGraph graph(symbols);
  constexpr uint64_t kLast = ~uint64_t{3};
  for (int i = 0; i < 2; i++) {
    run(graph, kLast - 4, {kNop, kNop});
    run(graph, 0, {kNop, kNop});
  }
  Instruction prefixed = one(kLast, kNop);
  prefixed.has_prefix = true;
  graph.instruction(prefixed);
  run(graph, 4, {kNop});
  graph.end_trace();
  std::set<std::pair<uint64_t, uint32_t>> blocks;
  for (const auto& row : graph.blocks()) blocks.insert({row.key.begin, row.key.instructions});
  CHECK(blocks ==
        std::set<std::pair<uint64_t, uint32_t>>{{kLast - 4, 2}, {kLast, 1}, {0, 2}, {4, 1}});
  CHECK(graph.instructions() == 10);
}

TEST_CASE("call graph: the innermost function of a stack that is too deep is known") {
  const SymbolTable symbols = nested_functions();
  CallGraph graph(symbols);
  constexpr uint64_t kDepth = 2000;
  for (uint64_t i = 0; i < kDepth; i++) run(graph, kMiddle, {call(kMiddle, kMiddle)});
  run(graph, kMiddle, {call(kMiddle, kInner)});
  run(graph, kInner, {kBlr});
  graph.end_trace();
  const std::vector<uint64_t> own = own_instructions(graph.tree());
  CHECK(own[graph.tree().find("middle")] == kDepth + 1);
  CHECK(own[graph.tree().find("inner")] == 1);
  CHECK(inclusive_by_calls(graph.tree())["middle"] == kDepth + 2);
}

TEST_CASE("call graph: all counts add up for any trace, in parts or not") {
  for (const bool named : {false, true}) {
    SymbolTable symbols;
    for (uint64_t at = 0x1000; named && at < 0x1800; at += 0x40) {
      symbols.add({.address = at, .size_bytes = 0x38, .name = "f" + std::to_string(at)});
    }
    symbols.finish();
    const auto word_at = [](uint64_t ea, uint64_t choice) -> uint32_t {
      if (choice < 70) return kNop;
      return choice < 80 ? call(ea, 0x1000 + choice % 32 * 64) : choice < 90 ? kBlr : kBranchBack;
    };
    CallGraph whole(symbols), parts(symbols);
    CallPart all;
    run_in_parts(all, size_t{1} << 20, 512, word_at, [&](CallPart& part) {
      for (const CallPart::Step& step : part.steps()) {
        if (step.gap) {
          whole.defect({});
          continue;
        }
        whole.instruction(CallPart::instruction_of(step));
        for (size_t i = 0; i < part.words(step).size(); i++) {
          whole.instruction(one(CallPart::run_ea(step) + 4 * i, part.words(step)[i]));
        }
      }
      part.clear();
    });
    whole.end_trace();
    CallPart part = parts.new_part();
    run_in_parts(part, 97, 512, word_at, [&](CallPart& next) { parts.take(next); });
    parts.end_trace();

    CHECK(call_edge_lines(whole.tree()) == call_edge_lines(parts.tree()));
    CHECK(executions_of(whole) == executions_of(parts));
    CHECK(inclusive_by_calls(parts.tree()) == inclusive_by_stacks(parts.tree()));
    uint64_t in_blocks = 0, own = 0;
    for (size_t i = 0; i < parts.blocks().size(); i++) {
      in_blocks += parts.blocks()[i].key.instructions * parts.executions()[i];
    }
    for (const uint64_t count : own_instructions(parts.tree())) own += count;
    CHECK(in_blocks == own);
    CHECK(own + parts.stacks().unknown() == parts.instructions());
    CHECK(own != 0);
  }
}

TEST_CASE("call graph: the memory does not depend on the number of losses") {
  const SymbolTable symbols = nested_functions();
  const auto graph_after = [&](uint64_t losses) {
    CallGraph graph(symbols);
    for (uint64_t i = 0; i < losses; i++) {
      // Outer functions become known late, and an interrupt suspends one of them.
      run(graph, kInner + 8, {kNop, kBlr});
      run(graph, kMiddle + 8, {kBlr});
      run(graph, kOuter + 8, {call(kOuter + 8, kMiddle)});
      run(graph, kMiddle, {kNop, call(kMiddle + 4, kInner)});
      run(graph, kInner, {kNop});
      graph.defect({});
    }
    graph.end_trace();
    return graph;
  };
  constexpr uint64_t kMany = 100'000;
  const CallGraph once = graph_after(1), some = graph_after(kMany), more = graph_after(3 * kMany);
  CHECK(some.tree().size() < kMany);
  CHECK(more.tree().size() < kMany);
  CHECK(more.tree().cut() == 0);
  for (const CallGraph* const graph : {&some, &more}) {
    const std::vector<CallEdge> all = call_edges(graph->tree()), one = call_edges(once.tree());
    REQUIRE(all.size() == one.size());
    for (size_t i = 0; i < all.size(); i++) {
      const uint64_t times = graph == &some ? kMany : 3 * kMany;
      CHECK(all[i].site == one[i].site);
      CHECK(graph->tree().name_of(all[i].callee) == once.tree().name_of(one[i].callee));
      CHECK(all[i].instructions == times * one[i].instructions);
    }
  }
}

TEST_CASE("call graph: a full tree still counts all instructions") {
  CallTree tree(CallTree::Detail::kSites);
  const CallTree::Function outer = tree.function_of("outer", true);
  const CallTree::Function inner = tree.function_of("inner", true);
  const CallTree::Node root = tree.child(CallTree::kRoot, outer);
  uint64_t counted = 0;
  for (uint64_t site = 4; counted < (1 << 20); site += 4, counted++) {
    tree.count(tree.child(tree.at_site(root, site), inner));
  }
  CHECK(tree.cut() != 0);
  CHECK(own_instructions(tree)[inner] == counted);
  CHECK(inclusive_by_calls(tree)["inner"] == counted);
}

}  // namespace htmtrace
