// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks/call_tree.h"

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
  const Node known = children_.find(key_of(parent, function));
  if (known != KeyNumbers::kNone) return known;
  if (depth == kMostDepth) cut_++;
  if (nodes_.size() >= kMostNodes) {
    cut_++;
    return others_;
  }
  const Node node = add(parent, function, depth);
  children_.add(key_of(parent, function), node);
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
  children_.add(key_of(above, function), base);
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

}  // namespace htmtrace
