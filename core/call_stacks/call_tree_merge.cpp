// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <utility>

#include "core/call_stacks/call_tree.h"

namespace htmtrace {

std::vector<CallTree::Node> CallTree::merge(const std::vector<bool>& used) {
  const std::vector<Entry> old = std::exchange(nodes_, {});
  nodes_ = {old[kRoot], old[others_]};
  others_ = 1;
  children_.clear();
  sites_.clear();
  std::vector<Node> moved(old.size(), KeyNumbers::kNone);
  moved[kRoot] = kRoot;
  moved[others_] = others_;
  std::vector<Node> path;
  for (Node node = 0; node < old.size(); node++) {
    // A late caller follows the functions that it called, so a parent can have a higher number.
    for (Node outer = node; moved[outer] == KeyNumbers::kNone; outer = old[outer].parent) {
      path.push_back(outer);
    }
    for (; !path.empty(); path.pop_back()) {
      const Entry& entry = old[path.back()];
      const bool is_open = is_open_base(entry) && used[path.back()];
      moved[path.back()] = add_merged(entry, moved[entry.parent], is_open);
    }
  }
  return moved;
}

// Returns the node for `entry` below `parent`. An open base can still get its caller, so it gets a
// node of its own.
CallTree::Node CallTree::add_merged(const Entry& entry, Node parent, bool is_open) {
  const auto next = static_cast<Node>(nodes_.size());
  Node node = next;
  if (entry.confirmed && entry.site == kNoSite) {
    node = parent;
  } else if (entry.confirmed) {
    const uint32_t site = sites_.add(entry.site, static_cast<uint32_t>(sites_.size()));
    node = children_.add(site_key(parent, site), next);
  } else if (!is_open) {
    node = children_.add(key_of(parent, entry.function), next);
  }
  if (node == next) {
    nodes_.push_back(entry);
    nodes_[node].parent = parent;
    return node;
  }
  Entry& merged = nodes_[node];
  merged.instructions += entry.instructions;
  merged.entries += entry.entries;
  if (node != parent) merged.depth = std::min(merged.depth, entry.depth);
  return node;
}

}  // namespace htmtrace
