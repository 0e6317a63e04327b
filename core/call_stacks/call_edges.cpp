// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks/call_edges.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace htmtrace {
namespace {

// Visits the stacks of the tree, callers first.
class EdgeFinder {
 public:
  explicit EdgeFinder(const CallTree& tree)
      : tree_(tree), first_(tree.size() + 1), totals_(tree.size()), active_(tree.functions()) {
    list_children();
  }

  std::vector<CallEdge> find() {
    enter(CallTree::kRoot, CallEdge::kNobody, CallTree::kNoSite);
    while (!path_.empty()) {
      Open& open = path_.back();
      if (open.next == first_[open.node + 1]) {
        leave();
      } else {
        const CallTree::Node child = children_[open.next++];
        enter(child, open.function, open.site);
      }
    }
    return merged();
  }

 private:
  // Stands for a function without instructions and begins.
  static constexpr CallTree::Function kNone = ~CallTree::Function{0};

  struct Open {
    CallTree::Node node = CallTree::kRoot;
    uint32_t next = 0;                                // of children_
    CallTree::Function function = CallEdge::kNobody;  // the innermost one up to this node
    uint64_t site = CallTree::kNoSite;                // of the calls below this node
  };

  // A late caller follows the functions that it called, so a parent can have a higher number.
  void list_children() {
    for (CallTree::Node node = 1; node < tree_.size(); node++) first_[tree_.parent(node) + 1]++;
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    children_.resize(tree_.size());
    std::vector<uint32_t> next(first_);
    for (CallTree::Node node = 1; node < tree_.size(); node++) {
      children_[next[tree_.parent(node)]++] = node;
    }
  }

  bool is_function(CallTree::Node node) const {
    return node != CallTree::kRoot && !tree_.is_confirmed(node);
  }

  void enter(CallTree::Node node, CallTree::Function caller, uint64_t site) {
    totals_[node] = tree_.instructions(node);
    Open& open = path_.emplace_back(Open{.node = node, .next = first_[node]});
    if (!is_function(node)) {
      open.function = caller;
      open.site = tree_.site(node) != CallTree::kNoSite ? tree_.site(node) : site;
      return;
    }
    open.function = tree_.function(node);
    edges_.push_back({.caller = caller, .site = site, .callee = open.function});
    edge_of_.push_back(edges_.size() - 1);
    active_[open.function]++;
  }

  void leave() {
    const Open open = path_.back();
    path_.pop_back();
    if (is_function(open.node)) {
      CallEdge& edge = edges_[edge_of_.back()];
      edge_of_.pop_back();
      const uint64_t total = totals_[open.node];
      edge.calls = tree_.entries(open.node);
      if (--active_[open.function] == 0) edge.instructions = total;
      if (edge.calls == 0 && total == 0) edge.callee = kNone;
    }
    if (!path_.empty()) totals_[path_.back().node] += totals_[open.node];
  }

  std::vector<CallEdge> merged() {
    const auto key = [](const CallEdge& edge) {
      return std::tuple(edge.caller, edge.site, edge.callee);
    };
    std::erase_if(edges_, [](const CallEdge& edge) { return edge.callee == kNone; });
    std::ranges::stable_sort(edges_, {}, key);
    std::vector<CallEdge> all;
    for (const CallEdge& edge : edges_) {
      if (!all.empty() && key(all.back()) == key(edge)) {
        all.back().calls += edge.calls;
        all.back().instructions += edge.instructions;
      } else {
        all.push_back(edge);
      }
    }
    for (CallEdge& edge : all) edge.calls = std::max<uint64_t>(edge.calls, 1);
    return all;
  }

  const CallTree& tree_;
  std::vector<uint32_t> first_;  // of the children of each node, in children_
  std::vector<CallTree::Node> children_;
  std::vector<uint64_t> totals_;
  std::vector<uint32_t> active_;  // how often each function is in the stack
  std::vector<Open> path_;
  std::vector<CallEdge> edges_;
  std::vector<size_t> edge_of_;  // of each function in the stack
};

}  // namespace

std::vector<CallEdge> call_edges(const CallTree& tree) {
  return EdgeFinder(tree).find();
}

std::vector<uint64_t> own_instructions(const CallTree& tree) {
  std::vector<uint64_t> own(tree.functions());
  for (CallTree::Node node = 0; node < tree.size(); node++) {
    own[tree.function(node)] += tree.instructions(node);
  }
  return own;
}

}  // namespace htmtrace
