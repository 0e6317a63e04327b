// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/memory_map/known.h"

#include <optional>

namespace htmtrace {

std::vector<TranslationMap::Range> known_memory(std::span<const std::byte> file) {
  const TranslationMap map(file, std::nullopt);
  std::vector<TranslationMap::Range> memory;
  for (const MemoryOwners::Range& range : map.owners().ranges()) {
    if (memory.empty() || range.real != memory.back().real + memory.back().size_bytes) {
      memory.push_back({.real = range.real, .size_bytes = range.size_bytes, .logical = 0});
    } else {
      memory.back().size_bytes += range.size_bytes;
    }
  }
  return memory;
}

}  // namespace htmtrace
