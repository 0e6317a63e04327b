// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/known_memory.h"

#include <algorithm>

namespace htmtrace {

std::vector<TranslationMap::Range> known_memory(std::span<const std::byte> file) {
  using Range = TranslationMap::Range;
  std::vector<Range> all;
  const TranslationMap none(file, std::nullopt);
  for (const uint32_t partition : none.report().partitions) {
    const TranslationMap own(file, partition);
    all.insert(all.end(), own.ranges().begin(), own.ranges().end());
  }
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) { return a.real < b.real; });
  std::vector<Range> memory;
  for (const Range& range : all) {
    if (memory.empty() || range.real > memory.back().real + memory.back().size_bytes) {
      memory.push_back(range);
      continue;
    }
    Range& last = memory.back();
    const uint64_t end = std::max(last.real + last.size_bytes, range.real + range.size_bytes);
    last.size_bytes = end - last.real;
  }
  return memory;
}

}  // namespace htmtrace
