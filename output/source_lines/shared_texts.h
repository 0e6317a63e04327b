// SPDX-License-Identifier: GPL-2.0-or-later
// Texts that many functions of a program share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/budget.h"
#include "core/base/error.h"
#include "core/base/plain_text.h"

namespace htmtrace {

// No compiler makes names of this length (SymbolTable::kMostNameBytes).
inline constexpr size_t kMostNameBytes = 128 << 10;
// Memory of a text or of an element of a map, in addition to its content.
inline constexpr uint64_t kNodeBytes = 64;

// A text in a section. Its end is unknown, because many entries may have the same long text.
struct OpenText {
  const char* begin = nullptr;
  size_t left_bytes = 0;  // in the section

  bool empty() const { return left_bytes == 0 || *begin == '\0'; }
  // The text up to its end, or its first kMostNameBytes. Throws Error if it has no end.
  std::string_view text() const {
    if (left_bytes == 0) return {};
    const size_t most = std::min(left_bytes, kMostNameBytes);
    const size_t size = strnlen(begin, most);
    if (size == left_bytes) throw Error("a name has no end");
    return {begin, size};
  }
};

class SharedTexts {
 public:
  SharedTexts() { add({}); }

  // The section of `open` must live as long as this object, because the address identifies the
  // text. Throws Error.
  uint32_t number_of(const OpenText& open, MemoryBudget& budget) {
    if (open.empty()) return 0;
    const auto known = numbers_.find(open.begin);
    if (known != numbers_.end()) return known->second;
    const std::string_view text = open.text();
    budget.take(text.size() + 3 * kNodeBytes);
    const uint32_t number = add(has_controls(text) ? without_controls(text) : std::string(text));
    numbers_.emplace(open.begin, number);
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
