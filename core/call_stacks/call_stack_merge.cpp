// SPDX-License-Identifier: GPL-2.0-or-later
// CallStacks::merge_stacks().
#include <algorithm>
#include <vector>

#include "core/call_stacks/call_stacks.h"

namespace htmtrace {

// Calls visit(node) for each reference to a node of the tree.
template <class Visit>
void CallStacks::visit_nodes(const Visit& visit) {
  const auto visit_frames = [&](std::vector<Frame>& frames) {
    for (Frame& frame : frames) {
      visit(frame.own);
      visit(frame.below);
    }
  };
  const auto visit_task = [&](Task& task) {
    visit_frames(task.frames);
    visit(task.base);
    visit(task.choice.base);
  };
  visit_task(task_);
  for (Task& task : tasks_) visit_task(task);
  for (Parent& parent : parents_) {
    visit_frames(parent.frames);
    visit(parent.own);
  }
  visit(leaf_);
  visit(own_);
  visit(handled_);
}

void CallStacks::merge_stacks() {
  std::vector<bool> used(tree_.size());
  visit_nodes([&](Node& node) { used[node] = true; });
  const std::vector<Node> moved = tree_.merge(used);
  visit_nodes([&](Node& node) { node = moved[node]; });
  settled_parent_ = kUnsettled;
  if (merge_at_ == kNever) return;
  merge_at_ = std::max(2 * tree_.size(), kFirstMerge);
  if (merge_at_ <= kLastMerge) return;
  // A merge must be worth its time, also if the tree is almost full of different stacks.
  constexpr size_t kLeastGrowth = kLastMerge / 8;
  merge_at_ = tree_.size() + kLeastGrowth <= kLastMerge ? kLastMerge : kNever;
}

}  // namespace htmtrace
