// SPDX-License-Identifier: GPL-2.0-or-later
// What one virtual processor did in each interval of time: what was stolen from it, how far it was
// moved, which dispatch windows were missed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/dtl_entry.h"
#include "core/dtl_statistics.h"
#include "core/processor_bits.h"

namespace htmtrace {

// Intervals begin at the multiples of their length on perf's clock, the same on all CPUs.
struct DtlIntervals {
  uint64_t length_ns = 0;  // not 0

  // The clock's frequency must be known.
  uint64_t of(uint64_t timebase, const DtlClock& clock) const {
    return *clock.nanoseconds(timebase) / length_ns;
  }
};

// One interval. A dispatch, and what was waited for before it, counts where the dispatch is.
struct DtlPoint {
  uint64_t interval = 0;  // begins at interval * length_ns
  uint64_t dispatches = 0;
  uint64_t preempted = 0;  // of these, after the end of a time slice
  uint64_t stolen = 0;     // ticks, as DtlAnalysis::stolen()
  uint64_t late = 0;       // as DtlAnalysis::late()
  uint64_t moved = 0;      // on another processor than the one before
  // Of the moved ones; 0 when it is not known where chips and nodes are.
  uint64_t same_chip = 0, same_node = 0;
  uint32_t longest = 0;  // ticks from enqueue to dispatch

  void add(const DtlPoint& other);
};

class DtlSeries {
 public:
  // `room` is how many points may still be made, by this and by others.
  DtlSeries(DtlIntervals intervals, std::optional<ProcessorBits> bits, std::atomic<int64_t>& room)
      : intervals_(intervals), bits_(bits), room_(&room) {}

  // In the order of their time, as far as they are. Does nothing without the clock's frequency.
  void add(std::span<const DtlEntry> entries, const DtlClock& clock);
  // Of entries that are all in one interval.
  void add(const DtlStatistics& statistics, const DtlClock& clock);

  // By ascending interval; those without a dispatch are not there.
  std::span<const DtlPoint> points() const { return points_; }
  // Dispatches of intervals for which there was no room.
  uint64_t left_out() const { return left_out_.dispatches; }
  // The lowest and the highest timebase that was seen.
  uint64_t lowest() const { return lowest_; }
  uint64_t highest() const { return highest_; }

 private:
  DtlPoint& at(uint64_t timebase, const DtlClock& clock);
  DtlPoint& find(uint64_t interval);
  void count_move(DtlPoint& point, uint16_t from, uint16_t to, uint64_t times) const;

  DtlIntervals intervals_;
  std::optional<ProcessorBits> bits_;
  std::atomic<int64_t>* room_;
  std::vector<DtlPoint> points_;
  DtlPoint left_out_;
  size_t current_ = SIZE_MAX;                 // of the interval below; SIZE_MAX: left_out_
  uint64_t begin_ = 1, end_ = 0;              // timebase, both included; at first nothing
  uint64_t ticks_per_second_ = 0, boot_ = 0;  // for which that is so
  uint64_t lowest_ = UINT64_MAX, highest_ = 0;
  std::optional<uint16_t> processor_;
};

}  // namespace htmtrace
