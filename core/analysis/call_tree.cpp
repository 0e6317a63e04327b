// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/call_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace htmtrace {
namespace {

uint64_t key_of(uint32_t parent, uint32_t function) {
  return uint64_t{parent} << 32 | function;
}

// A folded stack separates functions with semicolons.
std::string in_stack(std::string name) {
  std::ranges::replace(name, ';', ':');
  return name;
}

}  // namespace

CallTree::CallTree() {
  functions_ = {{.name = "[unknown]"},
                {.name = "[unknown callers]"},
                {.name = "[deeper calls]"},
                {.name = "[other stacks]"}};
  nodes_.push_back({});
  others_ = add(kRoot, kOthers, 1);
}

CallTree::Function CallTree::function_of(const std::string& name, bool is_symbol) {
  if (functions_.size() >= kMostFunctions) return find(name);
  const auto [known, added] = numbers_.try_emplace(name, static_cast<Function>(functions_.size()));
  if (added) functions_.push_back({.name = in_stack(name), .is_symbol = is_symbol});
  return known->second;
}

CallTree::Function CallTree::find(const std::string& name) const {
  const auto known = numbers_.find(name);
  return known == numbers_.end() ? kUnnamed : known->second;
}

CallTree::Node CallTree::add(Node parent, Function function, uint32_t depth) {
  nodes_.push_back({.parent = parent, .function = function, .depth = depth});
  return static_cast<Node>(nodes_.size() - 1);
}

CallTree::Node CallTree::child(Node parent, Function function) {
  const Entry& outer = nodes_[parent];
  if (outer.function == kOthers || outer.function == kDeeper) return parent;
  const uint32_t depth = outer.depth + 1;
  if (depth == kMostDepth) function = kDeeper;
  const auto known = children_.find(key_of(parent, function));
  if (known != children_.end()) return known->second;
  if (depth == kMostDepth) cut_++;
  if (nodes_.size() >= kMostNodes) {
    cut_++;
    return others_;
  }
  const Node node = add(parent, function, depth);
  children_.emplace(key_of(parent, function), node);
  return node;
}

CallTree::Node CallTree::add_base(Node parent) {
  if (nodes_[parent].function == kOthers || nodes_[parent].function == kDeeper) return parent;
  if (nodes_.size() >= kMostNodes) {
    cut_++;
    return others_;
  }
  return add(parent, kUnknownCallers, nodes_[parent].depth);
}

// The base and all stacks below it keep their numbers.
CallTree::Node CallTree::reveal(Node base, Function function) {
  if (nodes_[base].function != kUnknownCallers) return base;
  const Node above = add_base(nodes_[base].parent);
  nodes_[base].function = function;
  nodes_[base].parent = above;
  children_.emplace(key_of(above, function), base);
  return above;
}

void CallTree::confirm(Node base, Node parent) {
  Entry& entry = nodes_[base];
  if (entry.function != kUnknownCallers) return;
  entry.confirmed = true;
  entry.parent = parent;
}

CallTree::Node CallTree::visible(Node node) const {
  while (nodes_[node].confirmed) node = nodes_[node].parent;
  return node;
}

// Prints the tree. Several nodes may show the same stack, because the tree learns bases late. The
// folder therefore builds a second tree with one node for each stack.
class CallTree::Folder {
 public:
  Folder(const CallTree& tree, const std::function<void(std::string_view)>& put)
      : tree_(tree), put_(put), stack_of_(tree.nodes_.size(), kNone), stacks_(1) {
    stack_of_[kRoot] = kRoot;
    for (Node node = 0; node < tree.nodes_.size(); node++) {
      const uint64_t instructions = tree.nodes_[node].instructions;
      if (instructions == 0) continue;
      Node stack = find(node);
      if (stack == kRoot) stack = below(kRoot, kUnknownCallers);
      stacks_[stack].instructions += instructions;
    }
    for (Node stack = 1; stack < stacks_.size(); stack++) by_parent_.push_back(stack);
    std::sort(by_parent_.begin(), by_parent_.end(),
              [this](Node a, Node b) { return stacks_[a].parent < stacks_[b].parent; });
  }

  void print(Node parent = kRoot) {
    for (const Line& line : lines_below(parent)) {
      const size_t before = path_.size();
      path_ += name(line.stack);
      if (line.is_whole) {
        path_ += fmt::format(" {}\n", stacks_[line.stack].instructions);
        put_(path_);
      } else {
        path_ += ';';
        print(line.stack);
      }
      path_.resize(before);
    }
  }

 private:
  static constexpr Node kNone = ~Node{0};
  // Deeper than kMostDepth: late callers extend a stack upward, and bases do not count in
  // kMostDepth.
  static constexpr uint32_t kMostShown = 4 * kMostDepth;

  struct Stack {
    Node parent = kRoot;
    Function function = kUnnamed;
    uint32_t depth = 0;
    bool is_outer = false;  // other stacks lie below this stack
    uint64_t instructions = 0;
  };
  // A stack, or all stacks below it. The stacks below sort as "NAME;" and need not directly follow
  // "NAME".
  struct Line {
    Node stack = kRoot;
    bool is_whole = false;
  };

  const std::string& name(Node stack) const {
    return tree_.functions_[stacks_[stack].function].name;
  }

  Node below(Node parent, Function function) {
    const uint32_t depth = stacks_[parent].depth + 1;
    if (depth > kMostShown) return parent;
    if (depth == kMostShown) function = kDeeper;
    const auto [known, added] =
        children_.try_emplace(key_of(parent, function), static_cast<Node>(stacks_.size()));
    if (added) {
      stacks_.push_back({.parent = parent, .function = function, .depth = depth});
      stacks_[parent].is_outer = true;
    }
    return known->second;
  }

  // The stack that a node shows.
  Node find(Node node) {
    std::vector<Node> inner;
    for (; stack_of_[node] == kNone; node = tree_.nodes_[node].parent) inner.push_back(node);
    Node stack = stack_of_[node];
    for (size_t i = inner.size(); i-- > 0;) {
      const Entry& entry = tree_.nodes_[inner[i]];
      if (!entry.confirmed) stack = below(stack, entry.function);
      stack_of_[inner[i]] = stack;
    }
    return stack;
  }

  std::vector<Line> lines_below(Node parent) const {
    std::vector<Line> lines;
    auto child = std::lower_bound(by_parent_.begin(), by_parent_.end(), parent,
                                  [this](Node a, Node b) { return stacks_[a].parent < b; });
    for (; child != by_parent_.end() && stacks_[*child].parent == parent; ++child) {
      if (stacks_[*child].instructions != 0) lines.push_back({*child, true});
      if (stacks_[*child].is_outer) lines.push_back({*child, false});
    }
    std::sort(lines.begin(), lines.end(), [this](const Line& a, const Line& b) {
      return a.stack != b.stack ? is_before(a, b) : a.is_whole && !b.is_whole;
    });
    return lines;
  }

  // Compares the output lines that begin with these names.
  bool is_before(const Line& a, const Line& b) const {
    const std::string_view left = name(a.stack), right = name(b.stack);
    const size_t both = std::min(left.size(), right.size());
    const int order = left.substr(0, both).compare(right.substr(0, both));
    if (order != 0) return order < 0;
    const auto rest = [both](std::string_view name, bool is_whole) {
      return std::string(name.substr(both)) + (is_whole ? "" : ";");
    };
    return rest(left, a.is_whole) < rest(right, b.is_whole);
  }

  const CallTree& tree_;
  const std::function<void(std::string_view)>& put_;
  std::vector<Node> stack_of_;  // indexed by node of the tree
  std::vector<Stack> stacks_;
  std::unordered_map<uint64_t, Node> children_;
  std::vector<Node> by_parent_;
  std::string path_;
};

void CallTree::fold(const std::function<void(std::string_view)>& put) const {
  Folder(*this, put).print();
}

}  // namespace htmtrace
