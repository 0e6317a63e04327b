// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a dispatch trace log's file, htmtrace-dtl(5): block by block, also one that was not
// finished, around damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtl_blocks.h"
#include "core/dtl_entry.h"
#include "core/dtl_series.h"
#include "core/dtl_statistics.h"
#include "output/input_file.h"

namespace htmtrace {

// Statistics take the place of the entries that they are of.
enum class DtlStatisticsUse : uint8_t {
  kNone,   // entries only
  kTrust,  // what the file has; its entries are passed by. Of a regular file only.
  kCheck,  // made again from the entries, and compared with what the file has
};

class DtlReader {
 public:
  // Throws Error when the file does not begin with a block.
  explicit DtlReader(InputFile file, DtlStatisticsUse statistics = DtlStatisticsUse::kNone);

  // What a block must hold to be unpacked; others are passed by.
  struct Wanted {
    std::vector<int> cpus;  // empty: all
    // On perf's clock, both included. Entries in front of the first clock have no time.
    std::optional<uint64_t> from_ns, to_ns;
    // Statistics of entries that are not all in one of these do not take their place.
    std::optional<DtlIntervals> intervals{};
    bool tasks = false;  // blocks of switches and of names, too; not with statistics
  };

  // Either entries, or one of the others; all are dead with the next block.
  struct Block {
    int cpu = 0;
    std::span<const DtlEntry> entries;
    const DtlStatistics* statistics = nullptr;
    const DtlSwitches* switches = nullptr;
    std::string_view names{};
  };

  // The next block of entries that is wanted; nothing at the end. Its entries are those within the
  // wanted time. Throws Error when the file cannot be read.
  std::optional<Block> next(const Wanted& wanted);

  // What has been read so far. The clock is in front of the first entries.
  const DtlClock& clock() const { return clock_; }
  const std::string& start_text() const { return start_text_; }
  // What the recording said at its end; empty when that was not reached.
  const std::string& end_text() const { return end_text_; }
  bool ended() const { return ended_; }
  // Blocks that are passed by may be damaged without being among these.
  uint64_t damaged_bytes() const { return damaged_bytes_; }
  std::optional<uint64_t> first_damage() const { return first_damage_; }  // offset
  // Of all CPUs, wanted or not; those in damaged blocks are not among them.
  uint64_t entries() const { return entries_; }
  // Those of which only the statistics were read.
  uint64_t passed_by() const { return passed_by_; }
  // Groups whose statistics are not those of their entries.
  uint64_t contradictions() const { return contradictions_; }

 private:
  // A block of entries that is passed by.
  struct Place {
    DtlBlockHeader header;
    uint64_t offset = 0;
  };
  // Those since the last statistics of a CPU.
  struct Group {
    std::vector<Place> places;
    uint64_t entries = 0;
  };

  bool fill(size_t wanted);
  void drop(size_t length);
  void damaged(size_t length);
  std::optional<DtlBlockHeader> next_header();
  bool whole(const DtlBlockHeader& header);
  bool passes_by(const DtlBlockHeader& header) const;
  bool go_back();
  std::optional<Block> take_block(const DtlBlockHeader& header, const Wanted& wanted);
  std::optional<Block> take_payload(const DtlBlockHeader& header,
                                    std::span<const std::byte> payload, const Wanted& wanted);

  std::optional<Block> take_switches(const DtlBlockHeader& header,
                                     std::span<const std::byte> payload);
  void pass_by(const DtlBlockHeader& header, const Wanted& wanted);
  std::optional<Block> take_statistics(const DtlBlockHeader& header,
                                       std::span<const std::byte> payload, const Wanted& wanted);
  bool one_interval(uint64_t lowest, uint64_t highest, const Wanted& wanted) const;
  bool make_statistics(const Group& group, std::span<const std::byte> payload);
  void unpack_later(const Group& group);

  bool unpack(const DtlBlockHeader& header, std::span<const std::byte> payload);
  bool unpack_at(const Place& place);
  bool within_time();
  void lost(const Place& place);
  void find_times(const Wanted& wanted);

  InputFile file_;
  DtlStatisticsUse use_;
  std::vector<std::byte> buffer_;
  size_t begin_ = 0, end_ = 0;  // of what has been read and not used
  uint64_t offset_ = 0;         // of begin_ in the file
  std::vector<DtlEntry> entries_buffer_;
  std::span<const DtlEntry> chosen_;
  uint64_t from_ = 0, to_ = UINT64_MAX;  // timebase, both included

  std::map<int, Group> groups_;
  std::deque<Place> delayed_;       // to be unpacked before the file is read on
  std::optional<Place> unchecked_;  // the block before, when it was passed by
  bool suspect_ = false;            // the next block is read although it could be passed by
  DtlSwitches switches_;
  std::string names_;
  DtlStatistics statistics_;
  DtlGroup made_;
  std::vector<std::byte> delayed_bytes_;

  DtlClock clock_;
  std::string start_text_, end_text_;
  bool ended_ = false;
  uint64_t damaged_bytes_ = 0;
  std::optional<uint64_t> first_damage_;
  uint64_t entries_ = 0, passed_by_ = 0, contradictions_ = 0;
};

}  // namespace htmtrace
