// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks/call_tree.h"

#include <algorithm>
#include <utility>

namespace htmtrace {
namespace {

// A folded stack separates functions with semicolons.
std::string in_stack(std::string name) {
  std::ranges::replace(name, ';', ':');
  return name;
}

}  // namespace

CallTree::CallTree(Detail detail) : detail_(detail) {
  functions_ = {{.name = "[unknown]"},
                {.name = "[unknown callers]"},
                {.name = "[deeper calls]"},
                {.name = "[other stacks]"}};
  nodes_.push_back({});
  others_ = add(kRoot, kOthers, 1);
}

CallTree::Function CallTree::number_of(const std::string& key, const std::string& name, Kind kind) {
  if (functions_.size() >= kMostFunctions) {
    const Function known = find(key);
    if (known == kUnnamed) cut_++;
    return known;
  }
  const auto [known, added] = numbers_.try_emplace(key, static_cast<Function>(functions_.size()));
  if (added) functions_.push_back({.name = in_stack(name), .kind = kind});
  return known->second;
}

CallTree::Function CallTree::function_of(const std::string& name, bool is_symbol) {
  return number_of(name, name, is_symbol ? Kind::kSymbol : Kind::kNoSymbol);
}

CallTree::Function CallTree::inlined_function_of(std::string_view name) {
  // No symbol has a newline in its name.
  return number_of(std::string(name) + '\n', std::string(name).append(kInlinedMark),
                   Kind::kInlined);
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
  const bool innermost_only = detail_ == Detail::kSites && !is_mark(function);
  if (ends_at(parent) && !innermost_only) return parent;
  const uint32_t depth = nodes_[parent].depth + 1;
  if (depth >= kMostDepth) {
    if (innermost_only) {
      parent = end_of(parent);
    } else {
      function = kDeeper;
    }
  }
  const Node known = children_.find(key_of(parent, function));
  if (known != KeyNumbers::kNone) return known;
  if (depth >= kMostDepth) cut_++;
  size_t most = kMostNodes;
  if (nodes_[parent].function == kOthers) most += kMostFunctions;
  if (nodes_.size() >= most) {
    cut_++;
    return nodes_[parent].function == kOthers || !innermost_only ? others_
                                                                 : child(others_, function);
  }
  const Node node = add(parent, function, depth);
  children_.add(key_of(parent, function), node);
  return node;
}

// The special node that ends a stack that is too deep. Each function below it is a child of it.
CallTree::Node CallTree::end_of(Node parent) {
  if (ends_at(parent)) return parent;
  const Node outer = nodes_[parent].parent;
  if (ends_at(outer)) return outer;
  return child(parent, kDeeper);
}

CallTree::Node CallTree::add_base(Node parent) {
  if (ends_at(parent)) return parent;
  if (nodes_.size() >= kMostNodes) {
    cut_++;
    return others_;
  }
  return add(parent, kUnknownCallers, nodes_[parent].depth);
}

// The base and all stacks below it keep their numbers.
CallTree::Node CallTree::reveal(Node base, Function function, uint64_t site) {
  if (!is_open_base(nodes_[base])) return base;
  const Node above = add_base(nodes_[base].parent);
  if (detail_ == Detail::kSites) {
    confirm(base, child(above, function), is_mark(function) ? kNoSite : site);
    return above;
  }
  nodes_[base].function = function;
  nodes_[base].parent = above;
  children_.add(key_of(above, function), base);
  return above;
}

void CallTree::confirm(Node base, Node parent, uint64_t site) {
  Entry& entry = nodes_[base];
  if (!is_open_base(entry)) return;
  entry.confirmed = true;
  entry.parent = parent;
  entry.site = site;
}

CallTree::Node CallTree::at_site(Node own, uint64_t site) {
  const Entry& caller = nodes_[own];
  // All code without names is one function, [unknown]: the sites of its calls would fill the tree.
  if (detail_ != Detail::kSites || site == kNoSite || caller.depth >= kMostDepth ||
      is_mark(caller.function)) {
    return own;
  }
  if (nodes_.size() >= kMostNodes) {
    const uint32_t number = sites_.find(site);
    const Node known =
        number == KeyNumbers::kNone ? KeyNumbers::kNone : children_.find(site_key(own, number));
    return known == KeyNumbers::kNone ? own : known;
  }
  const uint32_t number = sites_.add(site, static_cast<uint32_t>(sites_.size()));
  const auto next = static_cast<Node>(nodes_.size());
  const Node node = children_.add(site_key(own, number), next);
  if (node != next) return node;
  add(own, caller.function, caller.depth);
  nodes_[node].confirmed = true;
  nodes_[node].site = site;
  return node;
}

CallTree::Node CallTree::visible(Node node) const {
  while (nodes_[node].confirmed) node = nodes_[node].parent;
  return node;
}

}  // namespace htmtrace
