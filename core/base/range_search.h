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

}  // namespace htmtrace
