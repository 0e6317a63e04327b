// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks/call_tree.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "core/call_stacks/stack_tree.h"
#include "tests/unit/analysis/folded_stacks.h"

namespace htmtrace {
namespace {

// Adds "outer;inner" below a node.
CallTree::Node grow(CallTree& tree, CallTree::Node node, std::initializer_list<const char*> names) {
  for (const char* name : names) node = tree.child(node, tree.function_of(name, true));
  return node;
}

}  // namespace

TEST_CASE("equal stacks share one line") {
  CallTree tree;
  tree.count(grow(tree, CallTree::kRoot, {"main", "work"}));
  tree.count(grow(tree, CallTree::kRoot, {"main", "work"}));
  tree.count(grow(tree, CallTree::kRoot, {"main"}));
  CHECK(folded(tree) == "main 1\nmain;work 2\n");
}

TEST_CASE("a caller that becomes known later appears above the functions that it called") {
  CallTree tree;
  CallTree::Node base = tree.add_base(CallTree::kRoot);
  const CallTree::Node leaf = grow(tree, base, {"leaf"});
  tree.count(leaf);
  CHECK(folded(tree) == "[unknown callers];leaf 1\n");
  base = tree.reveal(base, tree.function_of("work", true));
  tree.count(grow(tree, base, {"work"}));
  base = tree.reveal(base, tree.function_of("main", true));
  CHECK(folded(tree) ==
        "[unknown callers];main;work 1\n"
        "[unknown callers];main;work;leaf 1\n");
  CHECK(grow(tree, base, {"main", "work", "leaf"}) == leaf);
}

TEST_CASE("a confirmed base shows the stack of its parent") {
  CallTree tree;
  const CallTree::Node work = grow(tree, CallTree::kRoot, {"main", "work"});
  const CallTree::Node base = tree.add_base(work);
  const CallTree::Node handler = grow(tree, base, {"handler"});
  tree.count(handler);
  CHECK(folded(tree) == "main;work;[unknown callers];handler 1\n");
  tree.confirm(base, work);
  CHECK(folded(tree) == "main;work;handler 1\n");
  CHECK(tree.outer(handler) == work);
  CHECK(tree.visible(base) == work);
}

TEST_CASE("functions beyond the limit count as cut") {
  CallTree tree;
  const CallTree::Function first = tree.function_of("first", true);
  for (size_t i = tree.functions(); i < CallTree::kMostFunctions; i++) {
    tree.function_of(std::to_string(i), false);
  }
  CHECK(tree.cut() == 0);
  CHECK(tree.function_of("new", true) == CallTree::kUnnamed);
  CHECK(tree.cut() == 1);
  CHECK(tree.function_of("first", true) == first);
  CHECK(tree.cut() == 1);
}

TEST_CASE("stacks beyond the limits of depth and number are marked as such") {
  CallTree tree;
  CallTree::Node node = CallTree::kRoot;
  for (int i = 0; i < 10000; i++) node = grow(tree, node, {"again"});
  tree.count(node);
  CHECK(folded(tree).find("again;[deeper calls] 1\n") != std::string::npos);
  CHECK(tree.size() < 600);
  CHECK(tree.cut() != 0);
  const CallTree::Function function = tree.function_of("f", true);
  for (int i = 0; i < (1 << 20) + 100; i++) tree.add_base(CallTree::kRoot);
  CHECK(tree.size() <= 1 << 20);
  const CallTree::Node other = tree.child(CallTree::kRoot, function);
  tree.count(other);
  CHECK(folded(tree).find("[other stacks] 1\n") != std::string::npos);
}

TEST_CASE("lines are sorted by bytes, and each line appears once") {
  CallTree tree;
  for (const auto& names : std::initializer_list<std::initializer_list<const char*>>{
           {"a"}, {"a", "x"}, {"a b"}, {"a b", "x"}, {"a<int>"}, {"ab"}, {"ab", "x"}}) {
    tree.count(grow(tree, CallTree::kRoot, names));
  }
  // The same stacks again, below bases that represent no function.
  for (int i = 0; i < 3; i++) {
    const CallTree::Node base = tree.add_base(CallTree::kRoot);
    tree.count(grow(tree, base, {"a", "x"}));
    tree.confirm(base, CallTree::kRoot);
  }
  CHECK(folded(tree) == "a 1\na b 1\na b;x 1\na;x 4\na<int> 1\nab 1\nab;x 1\n");
}

TEST_CASE("long stacks below many bases take memory for each stack, not for each line") {
  CallTree tree;
  for (int i = 0; i < 2000; i++) {
    CallTree::Node node = tree.add_base(CallTree::kRoot);
    for (int depth = 0; depth < 500; depth++) tree.count(node = grow(tree, node, {"again"}));
  }
  size_t lines = 0;
  StackTree(tree).fold([&](std::string_view line) {
    lines++;
    CHECK(line.ends_with(" 2000\n"));
  });
  CHECK(lines == 500);
}

TEST_CASE("a semicolon in a name does not split a stack") {
  CallTree tree;
  tree.count(grow(tree, CallTree::kRoot, {"a;b", "c"}));
  CHECK(folded(tree) == "a:b;c 1\n");
}

TEST_CASE("new functions get no names after the limit of functions") {
  CallTree tree;
  for (int i = 0; i < (1 << 20) + 100; i++) tree.function_of(std::to_string(i), false);
  CHECK(tree.function_of("0", false) != CallTree::kUnnamed);
  CHECK(tree.function_of("one more", true) == CallTree::kUnnamed);
}

}  // namespace htmtrace
