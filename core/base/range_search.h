// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/address.h"

namespace htmtrace {

// The memory blocks of a partition are 256 MiB in practice. Caches of recent ranges give
// neighboring blocks different slots.
inline constexpr uint64_t kRecentRangeBytes = 256 << 20;

// The range that holds `address`, or null. The ranges are sorted by `real` and do not overlap.
template <class Range>
const Range* find_range(const std::vector<Range>& ranges, RealAddr address) {
  auto after =
      std::upper_bound(ranges.begin(), ranges.end(), address.value,
                       [](uint64_t value, const Range& range) { return value < range.real; });
  if (after == ranges.begin()) return nullptr;
  const Range& range = *--after;
  return address.value - range.real < range.size_bytes ? &range : nullptr;
}

// Memory that no range holds.
struct Gap {
  uint64_t real = 0;
  uint64_t size_bytes = 0;
  bool holds(RealAddr address) const { return address.value - real < size_bytes; }
};

// Returns the addresses around `address` that no range holds. Requires that no range holds
// `address`. The ranges are sorted by `real` and do not overlap. No gap holds the highest address,
// so that the size of each gap fits in 64 bits.
template <class Range>
Gap gap_around(const std::vector<Range>& ranges, RealAddr address) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), address.value,
                       [](uint64_t value, const Range& range) { return value < range.real; });
  const uint64_t begin = after == ranges.begin() ? 0 : after[-1].real + after[-1].size_bytes;
  const uint64_t end = after == ranges.end() ? ~uint64_t{0} : after->real;
  return {.real = begin, .size_bytes = end - begin};
}

}  // namespace htmtrace
