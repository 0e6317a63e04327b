// SPDX-License-Identifier: GPL-2.0-or-later
// The blocks that a dispatch trace log's file consists of. Each is complete in itself, so that a
// file can be read up to where its writer was killed, and behind damage. The layout is in
// htmtrace-dtl(5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/dtl_codec.h"
#include "core/dtl_entry.h"
#include "core/dtl_statistics.h"
#include "core/dtl_tasks.h"

namespace htmtrace {

enum class DtlBlockKind : uint8_t {
  kStart = 1,       // text: what was recorded
  kClock = 2,       // a DtlClockBlock
  kEntries = 3,     // of one CPU, packed, oldest first
  kEnd = 4,         // text: how much there is, and what was lost
  kStatistics = 5,  // of one CPU's entries since the last such block; readers may pass it by
  kSwitches = 6,    // of one CPU, from task to task; in front of the entries of that time
  kNames = 7,       // text: lines of DtlTaskNames
};

struct DtlBlockHeader {
  DtlBlockKind kind = DtlBlockKind::kStart;
  uint16_t cpu = 0;
  uint32_t payload_bytes = 0;
  uint32_t entries = 0;
  // The lowest and the highest of the entries. Of switches: times of perf's clock, see there.
  uint64_t first_timebase = 0, last_timebase = 0;
  uint32_t payload_crc = 0;
};

inline constexpr size_t kDtlHeaderBytes = 40;
// Of a group that has statistics; a block more at most.
inline constexpr uint64_t kDtlGroupEntries = 1 << 16;
// More than any kMostDtlEntries entries take.
inline constexpr uint32_t kMostDtlPayload = 1 << 20;

// What the timebase means.
struct DtlClockBlock {
  uint64_t boot_timebase = 0;
  uint64_t ticks_per_second = 0;
  // All three at the same time: the timebase, and the clocks in nanoseconds.
  uint64_t timebase = 0;
  uint64_t monotonic_ns = 0;
  uint64_t realtime_ns = 0;
};

// Of a file that htmtrace dtl recorded.
inline constexpr size_t kDtlMagicBytes = 4;
bool is_dtl_recording(std::span<const std::byte> first_bytes);

std::vector<std::byte> make_dtl_text_block(DtlBlockKind kind, std::string_view text);
std::vector<std::byte> make_dtl_clock_block(const DtlClockBlock& clock);
std::vector<std::byte> make_dtl_statistics_block(uint16_t cpu, const DtlStatistics& statistics);
// One to kMostDtlEntries entries.
std::vector<std::byte> make_dtl_entries_block(uint16_t cpu, std::span<const DtlEntry> entries);
// One to kMostDtlEntries switches; the times ascend, and none is behind `until_ns`.
std::vector<std::byte> make_dtl_switches_block(uint16_t cpu, std::span<const DtlSwitch> switches,
                                               uint64_t until_ns);
// Of any number of them, as many blocks as it takes, behind what is in `to`.
void add_dtl_switches(uint16_t cpu, const DtlSwitches& part, std::vector<std::byte>& to);
// The lines of DtlTaskNames, likewise.
void add_dtl_names(std::string_view lines, std::vector<std::byte>& to);

// One CPU's blocks: its entries, and behind each group of them their statistics, unless these are
// not worth their room.
class DtlCpuBlocks {
 public:
  // A group ends with the block with which it has so many entries.
  explicit DtlCpuBlocks(uint16_t cpu, uint64_t enough = kDtlGroupEntries)
      : cpu_(cpu), enough_(enough) {}

  // Appends to `to`. One to kMostDtlEntries entries.
  void add(std::span<const DtlEntry> entries, uint64_t ticks_per_second,
           std::vector<std::byte>& to);
  // The last group ends here.
  void finish(std::vector<std::byte>& to);

 private:
  uint16_t cpu_;
  uint64_t enough_;
  DtlGroup group_;
  size_t group_bytes_ = 0;
};

// Nothing when the first kDtlHeaderBytes are no header of a block. Any bytes will do.
std::optional<DtlBlockHeader> parse_dtl_header(std::span<const std::byte> bytes);
// The payload is the one that belongs to the header.
bool dtl_payload_intact(const DtlBlockHeader& header, std::span<const std::byte> payload);
std::optional<DtlClockBlock> parse_dtl_clock(std::span<const std::byte> payload);
// False when the payload is none; any bytes will do.
bool parse_dtl_switches(const DtlBlockHeader& header, std::span<const std::byte> payload,
                        DtlSwitches& to);

}  // namespace htmtrace
