// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks.h"

#include <fmt/core.h>

#include <algorithm>

namespace htmtrace {

// In steps of so much code without names is looked through for a name.
constexpr uint64_t kCodeLineBytes = 128;

CallStacks::CallStacks(const SymbolTable& symbols) : symbols_(symbols) {
  functions_.push_back({.name = "[unknown]"});
  nodes_.push_back({});
}

CallStacks::Link CallStacks::link_of(uint32_t opcode) {
  if (branch_kind(opcode) == BranchKind::kNone) return Link::kNone;
  if (sets_link(opcode)) return Link::kCall;
  if (returns_by_link(opcode)) return Link::kReturn;
  const unsigned primary = control_flow::primary(opcode);
  if (primary == 17) return Link::kSystemCall;
  if (primary != 19) return Link::kBranch;
  const unsigned extended = control_flow::extended(opcode);
  const bool to_register = extended == 16 || extended == 528 || extended == 560;
  return to_register ? Link::kBranch : Link::kInterruptReturn;
}

void CallStacks::skipped() {
  lost_ = true;
  part_bytes_ = 0;  // so that the next instruction is looked at, wherever it is
}

// Control came to `ea`, otherwise than from the instruction before it in the same function.
void CallStacks::arrive(uint64_t ea) {
  const Link link = last_link_;
  const uint64_t behind = next_;
  last_link_ = Link::kNone;
  bool entered = false;
  if (lost_) {
    restart();
    lost_ = false;
  } else if (ea != behind || link == Link::kInterruptReturn) {
    entered = follow(link, ea, behind);
  }  // else a branch that was not taken, a call of what follows (to learn the own address), or the
     // end of a function that goes over into the next
  set_part(ea, entered);
  settle();
}

// Returns whether a function was entered, at its begin as far as is known.
bool CallStacks::follow(Link link, uint64_t ea, uint64_t behind) {
  switch (link) {
    case Link::kCall:
      push(/*interrupted=*/false, behind);
      return true;
    case Link::kSystemCall:
    case Link::kNone:
      push(/*interrupted=*/true, behind);
      return true;
    case Link::kReturn:
    case Link::kInterruptReturn:
      if (!pop_to(ea, link == Link::kInterruptReturn)) restart();
      return false;
    case Link::kBranch:
      return false;
  }
  return false;
}

void CallStacks::push(bool interrupted, uint64_t back) {
  if (frames_.size() == kMostFrames) {
    cut_++;
    restart();
  }
  frames_.push_back(
      {.function = function_, .node = leaf_, .back = back, .interrupted = interrupted});
}

// Ends frames up to one that goes on at `back`. A return does not leave an interrupt.
bool CallStacks::pop_to(uint64_t back, bool interrupted) {
  for (size_t i = frames_.size(); i-- > 0;) {
    const Frame frame = frames_[i];
    if (frame.interrupted == interrupted && frame.back == back) {
      frames_.resize(i);
      function_ = frame.function;
      return true;
    }
    if (frame.interrupted && !interrupted) return false;
  }
  return false;
}

void CallStacks::restart() {
  restarts_++;
  frames_.clear();
  function_ = kNowhere;
}

// Which function `ea` is in: that of its name, or without one that was called.
void CallStacks::set_part(uint64_t ea, bool entered) {
  if (const SymbolTable::Symbol* symbol = symbols_.find({ea})) {
    part_first_ = symbol->address;
    part_bytes_ = symbol->size_bytes;
    if (part_bytes_ == 0) part_bytes_ = ea - symbol->address + 4;  // ask again behind it
    function_ = number_of(symbol->name, /*is_symbol=*/true);
    return;
  }
  part_first_ = 0;
  part_bytes_ = ~uint64_t{0};
  if (!symbols_.empty()) {
    // The next function with a name may be near.
    part_first_ = ea & ~(kCodeLineBytes - 1);
    part_bytes_ = kCodeLineBytes;
  }
  if (entered || functions_[function_].is_symbol) {
    function_ = number_of(fmt::format("{:x}", ea), /*is_symbol=*/false);
  }
}

// The node of the stack as it is now.
void CallStacks::settle() {
  const uint32_t parent = frames_.empty() ? kRoot : frames_.back().node;
  const uint64_t key = uint64_t{parent} << 32 | function_;
  const auto known = children_.find(key);
  if (known != children_.end()) {
    leaf_ = known->second;
    return;
  }
  if (nodes_.size() == kMostNodes) {
    cut_++;
    leaf_ = parent;
    return;
  }
  leaf_ = static_cast<uint32_t>(nodes_.size());
  children_.emplace(key, leaf_);
  nodes_.push_back({.parent = parent, .function = function_});
}

uint32_t CallStacks::number_of(const std::string& name, bool is_symbol) {
  const auto [place, added] = numbers_.try_emplace(name, static_cast<uint32_t>(functions_.size()));
  if (added) functions_.push_back({.name = name, .is_symbol = is_symbol});
  return place->second;
}

std::string CallStacks::folded() const {
  std::vector<std::string> stacks(nodes_.size());
  std::vector<std::string> lines;
  // A parent stands before its children.
  for (size_t i = 0; i < nodes_.size(); i++) {
    const Node& node = nodes_[i];
    if (i != kRoot) {
      const std::string& outer = stacks[node.parent];
      const std::string& own = functions_[node.function].name;
      stacks[i] = outer.empty() ? own : fmt::format("{};{}", outer, own);
    }
    if (node.instructions == 0) continue;
    lines.push_back(fmt::format("{} {}\n", i == kRoot ? functions_[kNowhere].name : stacks[i],
                                node.instructions));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace htmtrace
