// SPDX-License-Identifier: GPL-2.0-or-later
// The lists that the hypervisor returns (H_HTM STATUS, DUMP_SYSPROC_CONF, DUMP_SYSMEM_CONF) consist
// of big-endian blocks. Each block has a header of 32 bytes and entries of one size. Public
// documents describe three header fields: the next iterator (0x08), the number of entries (0x10),
// and byte 1 of STATUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace htmtrace {

// The sizes of entries. STATUS has a size for core traces and a size for all other traces.
inline constexpr size_t kCoreStatusEntryBytes = 8;
inline constexpr size_t kOtherStatusEntryBytes = 6;
inline constexpr size_t kProcessorEntryBytes = 16;
inline constexpr size_t kMemoryEntryBytes = 32;

inline constexpr size_t kHtmBlockHeaderBytes = 32;

// The header of a block, and the size of the block.
struct HtmBlock {
  uint64_t next = 0;        // the hypervisor's next iterator; 0 or all ones after the last block
  uint64_t announced = 0;   // number of entries in the header
  uint64_t entries = 0;     // number of whole entries that exist, at most `announced`
  uint64_t size_bytes = 0;  // of the header and the whole entries
  // STATUS only: the size of each macro's trace memory. Empty when the value is out of range.
  std::optional<uint64_t> memory_bytes;

  bool is_last() const { return next == 0 || next == ~uint64_t{0}; }
  bool truncated() const { return entries < announced; }
};

// Parses the block that begins with `begin`. At most `room_bytes` exist of the block; `begin` needs
// only its header. Returns nothing without a whole header.
std::optional<HtmBlock> parse_htm_block(std::span<const std::byte> begin, uint64_t room_bytes,
                                        size_t entry_bytes);

struct HtmBlocks {
  std::vector<std::span<const std::byte>> entries;
  std::optional<uint64_t> memory_bytes;  // of the first block
  uint64_t rest_bytes = 0;               // bytes after the last whole block
};

// `file` must outlive the result.
HtmBlocks parse_htm_blocks(std::span<const std::byte> file, size_t entry_bytes);

}  // namespace htmtrace
