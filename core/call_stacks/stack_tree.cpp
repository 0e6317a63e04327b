// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks/stack_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace htmtrace {
namespace {

// Deeper than CallTree::kMostDepth: late callers extend a stack upward, and bases do not count in
// that limit.
constexpr uint32_t kMostShown = 4 * CallTree::kMostDepth;

uint64_t child_key(uint32_t parent, uint32_t function) {
  return uint64_t{parent} << 32 | function;
}

}  // namespace

StackTree::StackTree(const CallTree& tree)
    : tree_(tree), stack_of_(tree.size(), kNone), stacks_(1) {
  stack_of_[CallTree::kRoot] = kRoot;
  for (CallTree::Node node = 0; node < tree.size(); node++) {
    const uint64_t instructions = tree.instructions(node);
    // Keep a called function whose instructions are all in inlined functions.
    if (instructions == 0 && tree.entries(node) == 0) continue;
    Stack stack = find(node);
    if (stack == kRoot) stack = child(kRoot, CallTree::kUnknownCallers);
    stacks_[stack].instructions += instructions;
    stacks_[stack].calls += tree.entries(node);
  }
  for (Stack stack = 1; stack < stacks_.size(); stack++) by_parent_.push_back(stack);
  std::sort(by_parent_.begin(), by_parent_.end(), [this](Stack a, Stack b) {
    return std::tie(stacks_[a].parent, a) < std::tie(stacks_[b].parent, b);
  });
  for (Entry& entry : stacks_) entry.total = entry.instructions;
  for (size_t i = stacks_.size(); i-- > 1;) stacks_[stacks_[i].parent].total += stacks_[i].total;
}

StackTree::Stack StackTree::child(Stack parent, CallTree::Function function) {
  const uint32_t depth = stacks_[parent].depth + 1;
  if (depth > kMostShown) return parent;
  if (depth == kMostShown) function = CallTree::kDeeper;
  const auto next = static_cast<Stack>(stacks_.size());
  const Stack stack = children_.add(child_key(parent, function), next);
  if (stack == next) stacks_.push_back({.parent = parent, .function = function, .depth = depth});
  return stack;
}

// The stack that a node shows.
StackTree::Stack StackTree::find(CallTree::Node node) {
  std::vector<CallTree::Node> inner;
  for (; stack_of_[node] == kNone; node = tree_.parent(node)) inner.push_back(node);
  Stack stack = stack_of_[node];
  for (size_t i = inner.size(); i-- > 0;) {
    if (!tree_.is_confirmed(inner[i])) stack = child(stack, tree_.function(inner[i]));
    stack_of_[inner[i]] = stack;
  }
  return stack;
}

std::span<const StackTree::Stack> StackTree::below(Stack parent) const {
  const auto begin = std::lower_bound(by_parent_.begin(), by_parent_.end(), parent,
                                      [this](Stack a, Stack b) { return stacks_[a].parent < b; });
  const auto end = std::find_if(begin, by_parent_.end(),
                                [&](Stack stack) { return stacks_[stack].parent != parent; });
  return {begin, end};
}

std::vector<StackTree::Stack> StackTree::largest(size_t most) const {
  std::vector<Stack> all(by_parent_);
  const size_t wanted = std::min(most, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(wanted), all.end(),
                    [this](Stack a, Stack b) {
                      const Entry &left = stacks_[a], &right = stacks_[b];
                      if (left.total != right.total) return left.total > right.total;
                      // A caller with the same total must stay with the function that it called.
                      if (left.depth != right.depth) return left.depth < right.depth;
                      const int order = name(a).compare(name(b));
                      return order != 0 ? order < 0 : a < b;
                    });
  all.resize(wanted);
  return all;
}

// Prints the lines in the order of their bytes.
class StackTree::Folder {
 public:
  Folder(const StackTree& stacks, const std::function<void(std::string_view)>& put)
      : stacks_(stacks), put_(put) {}

  void print(Stack parent = kRoot) {
    for (const Line& line : lines_below(parent)) {
      const size_t before = path_.size();
      path_ += stacks_.name(line.stack);
      if (line.is_whole) {
        path_ += fmt::format(" {}\n", stacks_.own(line.stack));
        put_(path_);
      } else {
        path_ += ';';
        print(line.stack);
      }
      path_.resize(before);
    }
  }

 private:
  // A stack, or all stacks below it. The stacks below sort as "NAME;" and need not directly follow
  // "NAME".
  struct Line {
    Stack stack = kRoot;
    bool is_whole = false;
  };

  std::vector<Line> lines_below(Stack parent) const {
    std::vector<Line> lines;
    for (const Stack child : stacks_.below(parent)) {
      if (stacks_.own(child) != 0) lines.push_back({child, true});
      if (!stacks_.below(child).empty()) lines.push_back({child, false});
    }
    std::sort(lines.begin(), lines.end(), [this](const Line& a, const Line& b) {
      return a.stack != b.stack ? is_before(a, b) : a.is_whole && !b.is_whole;
    });
    return lines;
  }

  // Compares the output lines that begin with these names.
  bool is_before(const Line& a, const Line& b) const {
    const std::string_view left = stacks_.name(a.stack), right = stacks_.name(b.stack);
    const size_t both = std::min(left.size(), right.size());
    const int order = left.substr(0, both).compare(right.substr(0, both));
    if (order != 0) return order < 0;
    const auto rest = [both](std::string_view name, bool is_whole) {
      return std::string(name.substr(both)) + (is_whole ? "" : ";");
    };
    return rest(left, a.is_whole) < rest(right, b.is_whole);
  }

  const StackTree& stacks_;
  const std::function<void(std::string_view)>& put_;
  std::string path_;
};

void StackTree::fold(const std::function<void(std::string_view)>& put) const {
  Folder(*this, put).print();
}

}  // namespace htmtrace
