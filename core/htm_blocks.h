// SPDX-License-Identifier: GPL-2.0-or-later
// The lists that the hypervisor gives (H_HTM STATUS, DUMP_SYSPROC_CONF, DUMP_SYSMEM_CONF): blocks,
// each a header of 32 bytes and entries of one size, big-endian. Only the next iterator (0x08) and
// the number of entries (0x10) of the header are described in public, and byte 1 of STATUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace htmtrace {

inline constexpr size_t kHtmBlockHeaderBytes = 32;

struct HtmBlocks {
  std::vector<std::span<const std::byte>> entries;
  // STATUS only: the size of each macro's trace memory; nothing when there is none, or the value
  // makes no sense.
  std::optional<uint64_t> memory_bytes;
  uint64_t rest_bytes = 0;  // at the end, that are no whole block
};

// The entries of a STATUS block: of 8 bytes for core traces, of 6 for the others.
inline constexpr size_t kCoreStatusEntryBytes = 8;
inline constexpr size_t kOtherStatusEntryBytes = 6;
inline constexpr size_t kProcessorEntryBytes = 16;

// `file` outlives the result.
HtmBlocks parse_htm_blocks(std::span<const std::byte> file, size_t entry_bytes);

}  // namespace htmtrace
