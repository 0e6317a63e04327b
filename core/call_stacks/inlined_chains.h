// SPDX-License-Identifier: GPL-2.0-or-later
// The functions that the compiler inlined at an address, as numbers for CallStacks. Most addresses
// share their functions with many others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/address.h"
#include "core/call_stacks/call_tree.h"

namespace htmtrace {

struct InlinedFunctions {
  // The addresses with these functions, with their owner.
  uint64_t begin = 0;
  uint64_t end = 0;
  std::vector<std::string> names;  // each after the function into which it was inlined
};
// Finds the functions at an address with its owner (core/analysis/symbol_table.h).
using FindInlined = std::function<InlinedFunctions(EffectiveAddr)>;

class InlinedChains {
 public:
  using Number = uint32_t;
  static constexpr Number kNone = 0;  // no inlined function

  explicit InlinedChains(FindInlined find) : find_(std::move(find)) {}
  bool wanted() const { return find_ != nullptr; }

  struct Found {
    uint64_t begin = 0;
    uint64_t end = 0;
    Number number = kNone;
  };
  // Adds the functions to `tree`.
  Found find(EffectiveAddr address, CallTree& tree);

  std::span<const CallTree::Function> functions(Number number) const {
    return std::span(functions_).subspan(chains_[number].begin, chains_[number].size);
  }

  // The number of results of find() that lack their functions because of the limits of memory.
  uint64_t cut() const { return cut_; }

 private:
  Found look_up(EffectiveAddr address, CallTree& tree);

  static constexpr size_t kMostKnown = 1 << 17;
  static constexpr size_t kMostChains = 1 << 17;
  static constexpr size_t kMostFunctions = size_t{1} << 21;  // of all chains: 8 MiB, and the keys
  struct Chain {
    size_t begin = 0;  // in functions_
    size_t size = 0;
  };

  FindInlined find_;
  // A cache of results, by first address: CallStacks forgets areas, and long names make a new
  // lookup slow.
  std::map<uint64_t, Found> known_;
  std::vector<CallTree::Function> functions_;
  std::vector<Chain> chains_ = {{}};
  // The number of each chain. The key is a string: in C++20 on a big-endian machine, libstdc++ 12
  // compares only a part of two vectors of unsigned integers (GCC bug 113960).
  std::map<std::u32string, Number> numbers_;
  uint64_t cut_ = 0;
};

}  // namespace htmtrace
