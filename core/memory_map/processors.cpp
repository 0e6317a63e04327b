// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/memory_map/processors.h"

#include <algorithm>
#include <cstdint>

#include "core/base/big_endian.h"

namespace htmtrace {
namespace {

constexpr uint32_t kLargestIndex = 255;

}  // namespace

std::optional<std::vector<TraceTarget>> infer_processors(
    std::span<const std::span<const std::byte>> entries) {
  std::vector<TraceTarget> processors;
  processors.reserve(entries.size());
  for (const auto entry : entries) {
    if (entry.size() < 2 * sizeof(uint32_t)) return std::nullopt;
    // Numbers of 16 bits each.
    const uint32_t node_and_chip = load_be32(entry.data());
    const TraceTarget core{.node = node_and_chip >> 16,
                           .chip = node_and_chip & 0xffff,
                           .core = load_be32(entry.data() + sizeof(uint32_t)) >> 16,
                           .type = HtmType::kCore};
    if (std::max({core.node, core.chip, core.core}) > kLargestIndex) return std::nullopt;
    if (std::ranges::find(processors, core) != processors.end()) return std::nullopt;
    processors.push_back(core);
  }
  if (processors.empty()) return std::nullopt;
  return processors;
}

}  // namespace htmtrace
