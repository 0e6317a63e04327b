// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks/inlined_chains.h"

#include <iterator>
#include <utility>

namespace htmtrace {

InlinedChains::Found InlinedChains::find(EffectiveAddr address, CallTree& tree) {
  const auto after = known_.upper_bound(address.value);
  if (after != known_.begin() && address.value < std::prev(after)->second.end) {
    return std::prev(after)->second;
  }
  const Found found = look_up(address, tree);
  if (known_.size() < kMostKnown) known_.insert_or_assign(found.begin, found);
  return found;
}

InlinedChains::Found InlinedChains::look_up(EffectiveAddr address, CallTree& tree) {
  const InlinedFunctions inlined = find_(address);
  Found found{.begin = inlined.begin, .end = inlined.end};
  if (inlined.names.empty()) return found;
  std::u32string chain;
  chain.reserve(inlined.names.size());
  for (const std::string& name : inlined.names) chain.push_back(tree.inlined_function_of(name));
  const auto known = numbers_.find(chain);
  if (known != numbers_.end()) {
    found.number = known->second;
  } else if (chains_.size() >= kMostChains || functions_.size() + chain.size() > kMostFunctions) {
    cut_++;
  } else {
    found.number = static_cast<Number>(chains_.size());
    chains_.push_back({.begin = functions_.size(), .size = chain.size()});
    functions_.insert(functions_.end(), chain.begin(), chain.end());
    numbers_.emplace(std::move(chain), found.number);
  }
  return found;
}

}  // namespace htmtrace
