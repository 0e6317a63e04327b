// SPDX-License-Identifier: GPL-2.0-or-later
// The analysis of a group of entries, in a form that replaces the entries. A recording stores the
// statistics after each group, so that a summary need not unpack the entries. htmtrace-dtl(5)
// describes the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/dispatch_log/analysis.h"
#include "core/dispatch_log/columns.h"

namespace htmtrace {

// Statistics of consecutive entries of one virtual processor in time order.
class DtlStatistics {
 public:
  // Keys in ascending order with their number of occurrences.
  using Counts = std::vector<std::pair<uint64_t, uint64_t>>;
  // The limit of a table in a file.
  static constexpr size_t kMostKeys = 8192;

  uint64_t entries() const { return analysis_.entries(); }
  uint64_t blocks() const { return blocks_; }
  uint64_t ticks_per_second() const { return ticks_per_second_; }
  // Known only while a DtlGroup collects entries. In a file, the block's header holds them.
  uint64_t lowest_timebase() const { return lowest_timebase_; }
  uint64_t highest_timebase() const { return highest_timebase_; }

  const DtlAnalysis& analysis() const { return analysis_; }
  // Moves between processors, keyed by previous processor << 16 | next processor.
  const Counts& moves() const { return moves_; }

  // Appends the statistics to the analysis of the earlier entries. The result is the same as with
  // the single entries.
  void append_to(DtlAnalysis& analysis, int cpu, DtlPlaces& places) const;

  void pack(std::vector<std::byte>& to) const;
  // Returns false if `packed` is invalid; the statistics are then meaningless. Accepts any bytes.
  bool unpack(std::span<const std::byte> packed);

 private:
  friend class DtlGroup;

  DtlAnalysis analysis_;
  Counts moves_, processors_, fault_pages_, instructions_;
  uint64_t blocks_ = 0;
  uint64_t ticks_per_second_ = 0;
  uint64_t lowest_timebase_ = UINT64_MAX, highest_timebase_ = 0;
};

// Collects statistics block by block.
class DtlGroup {
 public:
  // A recorder has a group for each virtual processor, so the tables of a group must be small: they
  // take at most 280 KiB. A group with more keys has no statistics, so a reader unpacks its
  // entries.
  static constexpr size_t kMostKeys = 2048;

  // A reader that checks the statistics of a file needs a group for as many keys as a file can
  // have.
  explicit DtlGroup(size_t most_keys = kMostKeys) : places_(most_keys) {}

  // `times` must be the times of the block.
  void add(const DtlColumns& block, const DtlTimes& times, uint64_t ticks_per_second);
  uint64_t entries() const { return statistics_.entries(); }
  // Returns false if the group has more distinct keys than its tables can hold, or if the clock
  // changed.
  bool exact() const;
  // Valid until the next call.
  const DtlStatistics& statistics();
  void clear();

 private:
  DtlStatistics statistics_;
  DtlPlaces places_;
  bool one_clock_ = true;
};

}  // namespace htmtrace
