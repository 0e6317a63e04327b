// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks/stack_tree.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/call_stacks/call_tree.h"

namespace htmtrace {
namespace {

using Stack = StackTree::Stack;

// Counts `instructions` in "outer;inner" below a node.
void run(CallTree& tree, CallTree::Node node, std::initializer_list<const char*> names,
         int instructions) {
  for (const char* name : names) node = tree.child(node, tree.function_of(name, true));
  for (int i = 0; i < instructions; i++) tree.count(node);
}

std::vector<std::string> names_of(const StackTree& tree, const std::vector<Stack>& stacks) {
  std::vector<std::string> names;
  names.reserve(stacks.size());
  for (const Stack stack : stacks) names.push_back(tree.name(stack));
  return names;
}

}  // namespace

TEST_CASE("the total of a stack includes the functions that it called") {
  CallTree tree;
  run(tree, CallTree::kRoot, {"main"}, 1);
  run(tree, CallTree::kRoot, {"main", "work"}, 2);
  run(tree, CallTree::kRoot, {"main", "work", "leaf"}, 4);
  run(tree, CallTree::kRoot, {"main", "other"}, 8);
  const StackTree stacks(tree);
  REQUIRE(stacks.size() == 5);
  CHECK(stacks.total(StackTree::kRoot) == 15);
  REQUIRE(stacks.below(StackTree::kRoot).size() == 1);
  const Stack main = stacks.below(StackTree::kRoot)[0];
  CHECK(stacks.name(main) == "main");
  CHECK(stacks.own(main) == 1);
  CHECK(stacks.total(main) == 15);
  CHECK(stacks.below(main).size() == 2);
  CHECK(stacks.depth(main) == 1);
}

TEST_CASE("nodes with the same stack are one stack") {
  CallTree tree;
  run(tree, CallTree::kRoot, {"main", "work"}, 1);
  const CallTree::Node base = tree.add_base(CallTree::kRoot);
  run(tree, base, {"main", "work"}, 2);
  tree.confirm(base, CallTree::kRoot);
  const StackTree stacks(tree);
  CHECK(stacks.size() == 3);
  CHECK(names_of(stacks, stacks.largest(9)) == std::vector<std::string>{"main", "work"});
  CHECK(stacks.own(stacks.largest(9)[1]) == 3);
}

TEST_CASE("the largest stacks have their callers among them") {
  CallTree tree;
  run(tree, CallTree::kRoot, {"a", "b", "c"}, 5);  // the same total in each row
  run(tree, CallTree::kRoot, {"d"}, 4);
  run(tree, CallTree::kRoot, {"e", "f"}, 6);
  run(tree, CallTree::kRoot, {"e", "g"}, 1);
  const StackTree stacks(tree);
  CHECK(names_of(stacks, stacks.largest(4)) == std::vector<std::string>{"e", "f", "a", "b"});
  CHECK(stacks.largest(0).empty());
  for (size_t most = 1; most <= stacks.size(); most++) {
    const std::vector<Stack> largest = stacks.largest(most);
    for (auto stack = largest.begin(); stack != largest.end(); ++stack) {
      const Stack caller = stacks.parent(*stack);
      CHECK((caller == StackTree::kRoot || std::find(largest.begin(), stack, caller) != stack));
    }
  }
}

TEST_CASE("marks are no functions") {
  CallTree tree;
  run(tree, tree.add_base(CallTree::kRoot), {"work"}, 1);
  const StackTree stacks(tree);
  const Stack callers = stacks.below(StackTree::kRoot)[0];
  CHECK(stacks.name(callers) == "[unknown callers]");
  CHECK(stacks.is_mark(callers));
  CHECK_FALSE(stacks.is_mark(stacks.below(callers)[0]));
}

TEST_CASE("an empty tree has no stacks") {
  const CallTree tree;
  const StackTree stacks(tree);
  CHECK(stacks.size() == 1);
  CHECK(stacks.largest(9).empty());
}

}  // namespace htmtrace
