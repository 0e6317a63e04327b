// SPDX-License-Identifier: GPL-2.0-or-later
// Texts that many functions of a program share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/budget.h"
#include "core/base/plain_text.h"

namespace htmtrace {

// No compiler makes names of this length (SymbolTable::kMostNameBytes).
inline constexpr size_t kMostNameBytes = 128 << 10;
inline constexpr uint64_t kHeapBytes =
    64;  // of a text or an element of a map, in addition to its content

class SharedTexts {
 public:
  SharedTexts() { add({}); }

  // `text` must live as long as this object, because its address identifies the text.
  uint32_t number_of(std::string_view text, MemoryBudget& budget) {
    if (text.empty()) return 0;
    const auto known = numbers_.find(text.data());
    if (known != numbers_.end()) return known->second;
    text = text.substr(0, kMostNameBytes);
    budget.take(text.size() + 3 * kHeapBytes);
    const uint32_t number = add(has_controls(text) ? without_controls(text) : std::string(text));
    numbers_.emplace(text.data(), number);
    return number;
  }
  std::string_view at(uint32_t number) const { return texts_[number]; }

 private:
  uint32_t add(std::string text) {
    texts_.push_back(std::move(text));
    return static_cast<uint32_t>(texts_.size() - 1);
  }
  std::unordered_map<const char*, uint32_t> numbers_;
  std::deque<std::string> texts_;
};

}  // namespace htmtrace
