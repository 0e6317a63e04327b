// SPDX-License-Identifier: GPL-2.0-or-later
// What the analysis makes of a group of entries, in a form that takes the place of the entries: a
// recording has it behind each group, so that a summary need not unpack them. The layout is in
// htmtrace-dtl(5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/dtl_analysis.h"
#include "core/dtl_entry.h"

namespace htmtrace {

// Of entries of one virtual processor in the order of their time.
class DtlStatistics {
 public:
  // How often each key occurs, by ascending key.
  using Counts = std::vector<std::pair<uint64_t, uint64_t>>;
  // A table with more keys takes more room than it is worth.
  static constexpr size_t kMostKeys = 8192;

  uint64_t entries() const { return analysis_.entries(); }
  uint64_t blocks() const { return blocks_; }
  uint64_t ticks_per_second() const { return ticks_per_second_; }
  // Of a group, not unpacked: they are in the block's header.
  uint64_t lowest_timebase() const { return lowest_timebase_; }
  uint64_t highest_timebase() const { return highest_timebase_; }

  const DtlAnalysis& analysis() const { return analysis_; }
  // From processor to processor: the key is the one before << 16 | the one after.
  const Counts& moves() const { return moves_; }

  // To what is known of the entries before; exactly as if these had come one by one.
  void append_to(DtlAnalysis& analysis, int cpu, DtlPlaces& places) const;

  void pack(std::vector<std::byte>& to) const;
  // False when `packed` is no form of statistics; then these make no sense. Any bytes will do.
  bool unpack(std::span<const std::byte> packed);

 private:
  friend class DtlGroup;

  DtlAnalysis analysis_;
  Counts moves_, processors_, fault_pages_, instructions_;
  uint64_t blocks_ = 0;
  uint64_t ticks_per_second_ = 0;
  uint64_t lowest_timebase_ = UINT64_MAX, highest_timebase_ = 0;
};

// Makes them, block by block.
class DtlGroup {
 public:
  void add(std::span<const DtlEntry> block, uint64_t ticks_per_second);
  uint64_t entries() const { return statistics_.entries(); }
  // False when it has more different keys than statistics can take, or the clock was changed.
  bool exact() const;
  // Good until the next call.
  const DtlStatistics& statistics();
  void clear();

 private:
  DtlStatistics statistics_;
  // With room for one more, so that one too many is seen.
  DtlPlaces places_{DtlStatistics::kMostKeys + 1};
  bool one_clock_ = true;
};

}  // namespace htmtrace
