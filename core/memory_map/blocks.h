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

inline constexpr size_t kHtmBlockHeaderBytes = 32;

struct HtmBlocks {
  std::vector<std::span<const std::byte>> entries;
  // STATUS only: the size of each macro's trace memory. Empty when the file has no whole header or
  // the value is out of range.
  std::optional<uint64_t> memory_bytes;
  uint64_t rest_bytes = 0;  // bytes after the last whole block
};

// The size of a STATUS entry: 8 bytes for core traces, 6 bytes for other traces.
inline constexpr size_t kCoreStatusEntryBytes = 8;
inline constexpr size_t kOtherStatusEntryBytes = 6;
inline constexpr size_t kProcessorEntryBytes = 16;

// `file` must outlive the result.
HtmBlocks parse_htm_blocks(std::span<const std::byte> file, size_t entry_bytes);

}  // namespace htmtrace
