// SPDX-License-Identifier: GPL-2.0-or-later
// The blocks of a dispatch trace log file. Each block is self-contained, so a reader can use a file
// whose writer was killed, and continue after damage. htmtrace-dtl(5) describes the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dispatch_log/codec.h"
#include "core/dispatch_log/columns.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/statistics.h"
#include "core/dispatch_log/tasks.h"

namespace htmtrace {

enum class DtlBlockKind : uint8_t {
  kStart = 1,       // text: the recorded system and options
  kClock = 2,       // a DtlClockBlock
  kEntries = 3,     // packed entries of one CPU, oldest first
  kEnd = 4,         // a DtlEnd
  kStatistics = 5,  // of one CPU's entries since the last such block; readers may skip the block
  kSwitches = 6,    // task switches of one CPU; precede the entries of the same time
  kNames = 7,       // text: lines of DtlTaskNames
};

struct DtlBlockHeader {
  DtlBlockKind kind = DtlBlockKind::kStart;
  uint16_t cpu = 0;
  uint32_t payload_bytes = 0;
  uint32_t entries = 0;
  // The lowest and the highest timebase of the entries. For switches, times of perf's clock: see
  // make_dtl_switches_block().
  uint64_t first_timebase = 0, last_timebase = 0;
  uint32_t payload_crc = 0;
};

inline constexpr size_t kDtlHeaderBytes = 40;
// Entries of a group with statistics. A group may exceed the limit by at most one block.
inline constexpr uint64_t kDtlGroupEntries = 1 << 16;
// Exceeds the size of any kMostDtlEntries entries.
inline constexpr uint32_t kMostDtlPayload = 1 << 20;

// Relates the timebase to the system's clocks.
struct DtlClockBlock {
  uint64_t boot_timebase = 0;
  uint64_t ticks_per_second = 0;
  // Simultaneous readings of the timebase and of the clocks in nanoseconds.
  uint64_t timebase = 0;
  uint64_t monotonic_ns = 0;
  uint64_t realtime_ns = 0;
};

// The end of a complete file. A recorder that was killed writes none.
struct DtlEnd {
  std::optional<int> status;  // the recorder's exit status; empty: the block has no valid status
  std::string text;           // the number of entries and the losses, for people
};

// Recognizes a file that htmtrace dtl recorded.
inline constexpr size_t kDtlMagicBytes = 4;
bool is_dtl_recording(std::span<const std::byte> first_bytes);

std::vector<std::byte> make_dtl_text_block(DtlBlockKind kind, std::string_view text);
// Requires a status.
std::vector<std::byte> make_dtl_end_block(const DtlEnd& end);
std::vector<std::byte> make_dtl_clock_block(const DtlClockBlock& clock);
std::vector<std::byte> make_dtl_statistics_block(uint16_t cpu, const DtlStatistics& statistics);
// Accepts one to kMostDtlEntries entries.
std::vector<std::byte> make_dtl_entries_block(uint16_t cpu, std::span<const DtlEntry> entries);
// Accepts one or more entries, and their times. Uses and updates the `hints` of this CPU.
std::vector<std::byte> make_dtl_entries_block(uint16_t cpu, const DtlColumns& entries,
                                              const DtlTimes& times, DtlPackHints& hints);
// Accepts one to kMostDtlEntries switches. Times ascend and do not exceed `until_ns`.
std::vector<std::byte> make_dtl_switches_block(uint16_t cpu, std::span<const DtlSwitch> switches,
                                               uint64_t until_ns);
// Appends any number of switches to `to`, in as many blocks as necessary.
void add_dtl_switches(uint16_t cpu, const DtlSwitches& part, std::vector<std::byte>& to);
// Appends lines of DtlTaskNames to `to`, in as many blocks as necessary.
void add_dtl_names(std::string_view lines, std::vector<std::byte>& to);

// Writes the blocks of one CPU: its entries, and the statistics after each group of entries. Omits
// statistics that would take too much space.
class DtlCpuBlocks {
 public:
  // A group ends with the block that brings it to `enough` entries.
  explicit DtlCpuBlocks(uint16_t cpu, uint64_t enough = kDtlGroupEntries)
      : cpu_(cpu), enough_(enough) {}

  // Appends one to kMostDtlEntries entries to `to`.
  void add(std::span<const DtlEntry> entries, uint64_t ticks_per_second,
           std::vector<std::byte>& to);
  // Ends the last group.
  void finish(std::vector<std::byte>& to);

 private:
  uint16_t cpu_;
  uint64_t enough_;
  DtlPackHints hints_;
  DtlGroup group_;
  size_t group_bytes_ = 0;
};

// Returns nothing if the first kDtlHeaderBytes are not the header of a block. Accepts any bytes.
std::optional<DtlBlockHeader> parse_dtl_header(std::span<const std::byte> bytes);
// The payload has the size and the checksum of the header.
bool dtl_payload_intact(const DtlBlockHeader& header, std::span<const std::byte> payload);
// Accepts any bytes.
DtlEnd parse_dtl_end(std::span<const std::byte> payload);
std::optional<DtlClockBlock> parse_dtl_clock(std::span<const std::byte> payload);
// Returns false if the payload is invalid. Accepts any bytes.
bool parse_dtl_switches(const DtlBlockHeader& header, std::span<const std::byte> payload,
                        DtlSwitches& to);

}  // namespace htmtrace
