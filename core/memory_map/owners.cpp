// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/memory_map/owners.h"

#include <algorithm>
#include <tuple>

#include "core/base/range_search.h"

namespace htmtrace {

MemoryOwners::MemoryOwners(std::vector<Range> claims) {
  std::sort(claims.begin(), claims.end(), [](const Range& a, const Range& b) {
    return std::tie(a.real, a.partition, a.size_bytes) <
           std::tie(b.real, b.partition, b.size_bytes);
  });
  for (const Range& claim : claims) add(claim);
}

// Claims arrive in address order, so all claimed memory ends where the last range ends.
void MemoryOwners::add(Range range) {
  if (ranges_.empty()) {
    ranges_.push_back(range);
    return;
  }
  Range& last = ranges_.back();
  const uint64_t taken_end = last.real + last.size_bytes;
  const uint64_t end = range.real + range.size_bytes;
  if (range.real <= taken_end && range.partition == last.partition) {
    last.size_bytes = std::max(taken_end, end) - last.real;
    return;
  }
  // The partition of the last range also claims all memory from here to the end of that range.
  const uint64_t contested_from = std::max(range.real, contested_end_);
  const uint64_t contested_end = std::min(taken_end, end);
  if (contested_from < contested_end) {
    contested_bytes_ += contested_end - contested_from;
    contested_end_ = contested_end;
  }
  if (end <= taken_end) return;
  const uint64_t from = std::max(range.real, taken_end);
  ranges_.push_back({.real = from, .size_bytes = end - from, .partition = range.partition});
}

const MemoryOwners::Range* MemoryOwners::find(RealAddr address) const {
  return find_range(ranges_, address);
}

Gap MemoryOwners::gap_around(RealAddr address) const {
  return htmtrace::gap_around(ranges_, address);
}

}  // namespace htmtrace
