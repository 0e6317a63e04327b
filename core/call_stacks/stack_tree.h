// SPDX-License-Identifier: GPL-2.0-or-later
// The stacks of a finished CallTree, each once. Several nodes of a CallTree may show the same
// stack, because the tree learns some callers late.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/key_numbers.h"
#include "core/call_stacks/call_tree.h"

namespace htmtrace {

class StackTree {
 public:
  using Stack = uint32_t;
  static constexpr Stack kRoot = 0;  // no function

  // `tree` must outlive this object, and must not change.
  explicit StackTree(const CallTree& tree);

  // Includes the root.
  size_t size() const { return stacks_.size(); }
  Stack parent(Stack stack) const { return stacks_[stack].parent; }
  uint32_t depth(Stack stack) const { return stacks_[stack].depth; }
  const std::string& name(Stack stack) const { return tree_.name_of(stacks_[stack].function); }
  // The name is a symbol, not an address or a mark such as "[unknown callers]".
  bool is_symbol(Stack stack) const { return tree_.is_symbol(stacks_[stack].function); }
  bool is_inlined(Stack stack) const { return tree_.is_inlined(stacks_[stack].function); }
  bool is_mark(Stack stack) const { return CallTree::is_mark(stacks_[stack].function); }
  // Instructions of the innermost function, and of this function with all functions that it called.
  uint64_t own(Stack stack) const { return stacks_[stack].instructions; }
  uint64_t total(Stack stack) const { return stacks_[stack].total; }
  // How often the innermost function began with these callers, at least 1: its begin need not be in
  // the trace. Not for marks and inlined functions.
  uint64_t calls(Stack stack) const { return std::max<uint64_t>(stacks_[stack].calls, 1); }

  // The stacks with one more function, in no particular order.
  std::span<const Stack> below(Stack parent) const;

  // The `most` stacks with the highest totals, without the root. The result has the parent of each
  // of its stacks. A caller precedes the functions that it called; the order is otherwise by total,
  // then by name.
  std::vector<Stack> largest(size_t most) const;

  // Calls put(text) with "outer;inner;leaf COUNT" and a newline for each stack with instructions,
  // sorted. The memory use does not depend on the length of the lines.
  void fold(const std::function<void(std::string_view)>& put) const;

 private:
  static constexpr Stack kNone = ~Stack{0};

  struct Entry {
    Stack parent = kRoot;
    CallTree::Function function = CallTree::kUnnamed;
    uint32_t depth = 0;
    uint64_t instructions = 0;
    uint64_t total = 0;
    uint64_t calls = 0;
  };

  class Folder;

  Stack child(Stack parent, CallTree::Function function);
  Stack find(CallTree::Node node);

  const CallTree& tree_;
  std::vector<Stack> stack_of_;  // indexed by node of the tree
  std::vector<Entry> stacks_;    // a parent precedes its children
  KeyNumbers children_;          // stacks by parent and function
  std::vector<Stack> by_parent_;
};

}  // namespace htmtrace
