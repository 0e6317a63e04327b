// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_tree.h"

#include <doctest/doctest.h>

#include <string>

namespace htmtrace {
namespace {

// Adds "outer;inner" below a node.
CallTree::Node grow(CallTree& tree, CallTree::Node node, std::initializer_list<const char*> names) {
  for (const char* name : names) node = tree.child(node, tree.function_of(name, true));
  return node;
}

}  // namespace

TEST_CASE("equal stacks are one line") {
  CallTree tree;
  tree.count(grow(tree, CallTree::kRoot, {"main", "work"}));
  tree.count(grow(tree, CallTree::kRoot, {"main", "work"}));
  tree.count(grow(tree, CallTree::kRoot, {"main"}));
  CHECK(tree.folded() == "main 1\nmain;work 2\n");
}

TEST_CASE("a caller that becomes known is put above the functions that it called") {
  CallTree tree;
  CallTree::Node base = tree.add_base(CallTree::kRoot);
  const CallTree::Node leaf = grow(tree, base, {"leaf"});
  tree.count(leaf);
  CHECK(tree.folded() == "[unknown callers];leaf 1\n");
  CHECK_FALSE(tree.complete(leaf));
  base = tree.reveal(base, tree.function_of("work", true));
  tree.count(grow(tree, base, {"work"}));
  base = tree.reveal(base, tree.function_of("main", true));
  CHECK(tree.folded() ==
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
  CHECK(tree.folded() == "main;work;[unknown callers];handler 1\n");
  tree.confirm(base, work);
  CHECK(tree.folded() == "main;work;handler 1\n");
  CHECK(tree.outer(handler) == work);
  CHECK(tree.visible(base) == work);
  CHECK(tree.complete(handler));
}

TEST_CASE("stacks beyond the limits of depth and number are marked") {
  CallTree tree;
  CallTree::Node node = CallTree::kRoot;
  for (int i = 0; i < 10000; i++) node = grow(tree, node, {"again"});
  tree.count(node);
  CHECK_FALSE(tree.complete(node));
  CHECK(tree.folded().find("again;[deeper calls] 1\n") != std::string::npos);
  CHECK(tree.size() < 600);
  CHECK(tree.cut() != 0);
  const CallTree::Function function = tree.function_of("f", true);
  for (int i = 0; i < (1 << 20) + 100; i++) tree.add_base(CallTree::kRoot);
  CHECK(tree.size() <= 1 << 20);
  const CallTree::Node other = tree.child(CallTree::kRoot, function);
  tree.count(other);
  CHECK_FALSE(tree.complete(other));
  CHECK(tree.folded().find("[other stacks] 1\n") != std::string::npos);
}

}  // namespace htmtrace
