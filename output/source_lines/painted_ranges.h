// SPDX-License-Identifier: GPL-2.0-or-later
// Nested ranges of addresses, such as those of functions and their inlined functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace htmtrace {

// Ranges of addresses with a value. A later range hides the covered parts of earlier ranges.
template <class Value>
class PaintedRanges {
 public:
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
    Value value = {};
  };
  // Memory of a range: it may split another one.
  static constexpr uint64_t kRangeBytes = 2 * (64 + sizeof(Range));

  void paint(uint64_t begin, uint64_t end, Value value) {
    if (begin >= end) return;
    cut(begin);
    cut(end);
    ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
    ranges_.emplace(begin, std::pair(end, value));
  }

  // The ranges in the order of their addresses, without overlaps. Empties this object.
  std::vector<Range> take() {
    std::vector<Range> all;
    all.reserve(ranges_.size());
    for (const auto& [begin, rest] : ranges_) all.push_back({begin, rest.first, rest.second});
    ranges_.clear();
    return all;
  }

 private:
  // Makes a range that holds `address` end there, and begin again.
  void cut(uint64_t address) {
    auto after = ranges_.lower_bound(address);
    if (after == ranges_.begin()) return;
    auto& [end, value] = std::prev(after)->second;
    if (end <= address) return;
    ranges_.emplace_hint(after, address, std::pair(end, value));
    end = address;
  }

  std::map<uint64_t, std::pair<uint64_t, Value>> ranges_;
};

}  // namespace htmtrace
