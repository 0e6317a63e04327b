// SPDX-License-Identifier: GPL-2.0-or-later
// What is inside the records that an htm event's data ring holds. Every parser checks the bounds
// and returns nothing when the record is too short (layouts: enum perf_event_type,
// include/uapi/linux/perf_event.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ringbuf/rings.h"

namespace htmtrace {

// PERF_RECORD_AUX: `size` bytes came to the AUX area at running position `offset`.
struct AuxRecord {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t flags = 0;
};
std::optional<AuxRecord> parse_aux(std::span<const std::byte> body);

// PERF_RECORD_LOST: how many records found no room.
std::optional<uint64_t> parse_lost(std::span<const std::byte> body);

// PERF_RECORD_MMAP2: a process mapped a part of a file. The name is valid as long as the body.
struct MappedFile {
  uint64_t bytes = 0;
  uint64_t offset = 0;  // in the file
  uint64_t inode = 0;
  std::string_view name;
};
// Returns no file when the record is too short, or identifies its file by a build ID.
std::optional<MappedFile> parse_mapped_file(const Record& record);

// The raw payload of a PERF_RECORD_SAMPLE of sample_type IDENTIFIER|IP|TID|TIME|CPU|RAW. perf pads
// it, so it may be up to seven bytes longer than what the driver gave.
std::optional<std::span<const std::byte>> parse_raw(std::span<const std::byte> body);

// A block of the machine's memory map: a 32-byte header and 32-byte entries, big-endian
// (H_HTM DUMP_SYSMEM_CONF). `bytes` is without perf's padding.
struct MapBlock {
  std::span<const std::byte> bytes;
  uint64_t next = 0;  // where the hypervisor would continue; 0 or all ones after the last block
  uint64_t entries = 0;

  bool is_last() const { return next == 0 || next == ~uint64_t{0}; }
};
// Nothing when the payload is no such block, for instance because the count does not fit.
std::optional<MapBlock> parse_map_block(std::span<const std::byte> payload);

// The first public driver's end marker: how many dumps, each of a whole AUX ring, were trace. A raw
// payload of just four bytes, in the machine's own byte order.
std::optional<uint32_t> parse_end_marker(std::span<const std::byte> payload);

// What htmtrace's own driver says about its delivery in a PERF_RECORD_AUX_OUTPUT_HW_ID (kmod/ABI).
// The public drivers never write one.
struct Announcement {
  enum class Kind : uint8_t {
    kTraceBegin = 1,
    kTraceEnd = 2,
    kMapBegin = 3,
    kMapEnd = 4,
    kError = 5,
    kStarted = 6,  // the macro traces
    kGap = 7,      // the macro did not trace for a while, although it was enabled
  };
  Kind kind = Kind::kError;
  uint64_t bytes = 0;  // of the trace memory (begin) or delivered (end)
  // Of an error:
  unsigned operation = 0;   // number in the H_HTM call
  int error_number = 0;     // as errno
  int32_t return_code = 0;  // of the hypervisor
  // Only for kStarted and kGap:
  unsigned why = 0;  // one bit for each reason; 0: the trace began when asked for
  uint64_t untraced_ns = 0;
};
// Nothing when the record is too short or of a kind that is not known.
std::optional<Announcement> parse_announcement(std::span<const std::byte> body);

}  // namespace htmtrace
