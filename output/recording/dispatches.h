// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a dispatch trace log's file, htmtrace-dtl(5), block by block. Also reads an unfinished
// file, and skips damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/budget.h"
#include "core/dispatch_log/blocks.h"
#include "core/dispatch_log/columns.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/series.h"
#include "core/dispatch_log/statistics.h"
#include "output/io/input_file.h"

namespace htmtrace {

// How the reader uses statistics in place of the entries that they summarize.
enum class DtlStatisticsUse : uint8_t {
  kNone,   // entries only
  kTrust,  // return the file's statistics and skip their entries; regular files only
  kCheck,  // compute statistics from the entries and compare them with those of the file
};

class DtlReader {
 public:
  // Throws Error if the file does not begin with a block.
  explicit DtlReader(InputFile file, DtlStatisticsUse statistics = DtlStatisticsUse::kNone);

  // Selects the blocks to unpack. All other blocks are skipped.
  struct Wanted {
    std::vector<int> cpus;  // empty: all
    // Times on perf's clock, both inclusive. Entries that precede the first clock have no time.
    std::optional<uint64_t> from_ns, to_ns;
    // Statistics replace their entries only if all of these entries are in one interval.
    std::optional<DtlIntervals> intervals{};
    bool tasks = false;  // also return blocks of switches and names; not with statistics
  };

  // Holds either entries or one of the other kinds. The next block invalidates all of them.
  struct Block {
    int cpu = 0;
    std::span<const DtlEntry> entries;
    const DtlColumns* columns = nullptr;  // the same entries; null for a part of a block
    const DtlStatistics* statistics = nullptr;
    const DtlSwitches* switches = nullptr;
    std::string_view names{};
  };

  // Returns the next requested block of entries, or nothing at the end. Returns only the entries
  // within the requested time. Throws Error if the file cannot be read.
  std::optional<Block> next(const Wanted& wanted);

  // The last clock that was read. A clock precedes the first entries.
  const DtlClock& clock() const { return clock_; }
  // CLOCK_REALTIME of the recorded machine at a timebase, by the last clock that was read. Empty if
  // no clock was read, or if the clock lacks CLOCK_REALTIME.
  std::optional<uint64_t> realtime_ns(uint64_t timebase) const;
  const std::string& start_text() const { return start_text_; }
  // The value of a line in the start text, or an empty string.
  std::string start_value(std::string_view name) const;
  // Empty if the recording has no end, or if the reader has not reached it.
  const std::optional<DtlEnd>& end() const { return recording_end_; }
  // Of a regular file.
  std::optional<uint64_t> size_bytes() const { return file_.size_bytes(); }
  // Does not include damage within skipped blocks.
  uint64_t damaged_bytes() const { return damaged_bytes_; }
  std::optional<uint64_t> first_damage() const { return first_damage_; }  // file offset
  // Entries of all CPUs, requested or not, except those in damaged blocks.
  uint64_t entries() const { return entries_; }
  // Entries of which only the statistics were read.
  uint64_t passed_by() const { return passed_by_; }
  // Groups whose statistics differ from those of their entries.
  uint64_t contradictions() const { return contradictions_; }

 private:
  // A skipped block of entries.
  struct Place {
    DtlBlockHeader header;
    uint64_t offset = 0;
  };
  // Blocks since the last statistics of a CPU.
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
  const DtlStatistics* make_statistics(const Group& group, std::span<const std::byte> payload);
  void unpack_later(const Group& group);

  bool unpack(const DtlBlockHeader& header, std::span<const std::byte> payload);
  bool unpack_at(const Place& place);
  std::optional<Block> within_time(int cpu);
  void lost(const Place& place);
  void find_times(const Wanted& wanted);

  InputFile file_;
  DtlStatisticsUse use_;
  std::vector<std::byte> buffer_;
  size_t begin_ = 0, end_ = 0;           // bounds of the bytes that are read and not used yet
  uint64_t offset_ = 0;                  // file offset of begin_
  uint64_t furthest_ = 0;                // the highest offset so far
  WorkBudget checks_;                    // bytes whose checksums are computed
  std::unique_ptr<DtlColumns> columns_;  // the block that was unpacked last
  std::vector<DtlEntry> entries_buffer_;
  uint64_t from_ = 0, to_ = UINT64_MAX;  // timebase, both inclusive

  std::map<int, Group> groups_;
  std::deque<Place> delayed_;       // blocks to unpack before the reader continues
  std::optional<Place> unchecked_;  // the preceding block, if it was skipped
  bool suspect_ = false;            // read the next block even if it could be skipped
  DtlSwitches switches_;
  std::string names_;
  DtlStatistics statistics_;
  DtlGroup made_{DtlStatistics::kMostKeys};
  std::vector<std::byte> delayed_bytes_;

  DtlClock clock_;
  std::optional<DtlClockBlock> clock_block_;
  std::string start_text_;
  std::optional<DtlEnd> recording_end_;
  uint64_t damaged_bytes_ = 0;
  std::optional<uint64_t> first_damage_;
  uint64_t entries_ = 0, passed_by_ = 0, contradictions_ = 0;
};

}  // namespace htmtrace
