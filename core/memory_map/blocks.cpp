// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/memory_map/blocks.h"

#include "core/base/big_endian.h"

namespace htmtrace {
namespace {

constexpr size_t kCountOffset = 0x10;
// Byte 1 of a STATUS header holds the base-2 logarithm of the trace memory's size. Trace memories
// are 4 KiB to 256 TiB large.
constexpr size_t kMemoryOffset = 1;
constexpr unsigned kLeastMemory = 12;
constexpr unsigned kMostMemory = 48;

}  // namespace

HtmBlocks parse_htm_blocks(std::span<const std::byte> file, size_t entry_bytes) {
  HtmBlocks blocks;
  if (file.size() >= kHtmBlockHeaderBytes) {
    const auto power = std::to_integer<unsigned>(file[kMemoryOffset]);
    if (power >= kLeastMemory && power <= kMostMemory) blocks.memory_bytes = uint64_t{1} << power;
  }
  while (file.size() >= kHtmBlockHeaderBytes) {
    const uint64_t count = load_be64(file.data() + kCountOffset);
    const auto entries = file.subspan(kHtmBlockHeaderBytes);
    if (count > entries.size() / entry_bytes) break;
    for (uint64_t index = 0; index < count; index++) {
      blocks.entries.push_back(entries.subspan(index * entry_bytes, entry_bytes));
    }
    file = entries.subspan(count * entry_bytes);
  }
  blocks.rest_bytes = file.size();
  return blocks;
}

}  // namespace htmtrace
