// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/memory_map/blocks.h"

#include <algorithm>

#include "core/base/big_endian.h"

namespace htmtrace {
namespace {

// Byte 1 of a STATUS header holds the base-2 logarithm of the trace memory's size. Trace memories
// are 4 KiB to 256 TiB large.
constexpr size_t kMemoryOffset = 1;
constexpr unsigned kLeastMemory = 12;
constexpr unsigned kMostMemory = 48;
constexpr size_t kNextOffset = 0x08;
constexpr size_t kCountOffset = 0x10;

}  // namespace

std::optional<HtmBlock> parse_htm_block(std::span<const std::byte> begin, uint64_t room_bytes,
                                        size_t entry_bytes) {
  if (begin.size() < kHtmBlockHeaderBytes || room_bytes < kHtmBlockHeaderBytes) return std::nullopt;
  HtmBlock block;
  block.next = load_be64(begin.data() + kNextOffset);
  block.announced = load_be64(begin.data() + kCountOffset);
  block.entries = std::min(block.announced, (room_bytes - kHtmBlockHeaderBytes) / entry_bytes);
  block.size_bytes = kHtmBlockHeaderBytes + block.entries * entry_bytes;
  const auto power = std::to_integer<unsigned>(begin[kMemoryOffset]);
  if (power >= kLeastMemory && power <= kMostMemory) block.memory_bytes = uint64_t{1} << power;
  return block;
}

HtmBlocks parse_htm_blocks(std::span<const std::byte> file, size_t entry_bytes) {
  HtmBlocks blocks;
  auto block = parse_htm_block(file, file.size(), entry_bytes);
  if (block) blocks.memory_bytes = block->memory_bytes;
  while (block && !block->truncated()) {
    for (size_t at = kHtmBlockHeaderBytes; at < block->size_bytes; at += entry_bytes) {
      blocks.entries.push_back(file.subspan(at, entry_bytes));
    }
    file = file.subspan(block->size_bytes);
    block = parse_htm_block(file, file.size(), entry_bytes);
  }
  blocks.rest_bytes = file.size();
  return blocks;
}

}  // namespace htmtrace
