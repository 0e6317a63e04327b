// SPDX-License-Identifier: GPL-2.0-or-later
// Divides the log of one virtual processor into time intervals: stolen time, the distance of moves,
// and missed dispatch windows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/processor_bits.h"
#include "core/dispatch_log/statistics.h"

namespace htmtrace {

// Intervals begin at the multiples of their length on perf's clock, on all CPUs alike.
struct DtlIntervals {
  uint64_t length_ns = 0;  // not 0

  // The clock's frequency must be known.
  uint64_t of(uint64_t timebase, const DtlClock& clock) const {
    return *clock.nanoseconds(timebase) / length_ns;
  }
};

// One interval. A dispatch and the wait before it count in the interval of the dispatch.
struct DtlPoint {
  uint64_t interval = 0;  // starts at interval * length_ns
  uint64_t dispatches = 0;
  uint64_t preempted = 0;  // dispatches after the end of a time slice
  uint64_t stolen = 0;     // ticks, like DtlAnalysis::stolen()
  uint64_t late = 0;       // like DtlAnalysis::late()
  uint64_t moved = 0;      // dispatches on a different processor than the previous dispatch
  // Moves within a chip and within a node; 0 if the numbering of chips and nodes is unknown.
  uint64_t same_chip = 0, same_node = 0;
  uint32_t longest = 0;  // ticks from enqueue to dispatch

  void add(const DtlPoint& other);
};

class DtlSeries {
 public:
  // `room` is the number of points that this series and all series with the same `room` may still
  // create.
  DtlSeries(DtlIntervals intervals, std::optional<ProcessorBits> bits, std::atomic<int64_t>& room)
      : intervals_(intervals), bits_(bits), room_(&room) {}

  // Adds entries in time order, as far as the log is ordered. Does nothing without the clock's
  // frequency.
  void add(std::span<const DtlEntry> entries, const DtlClock& clock);
  // Adds a group of entries that all lie in one interval.
  void add(const DtlStatistics& statistics, const DtlClock& clock);

  // Sorted by interval; intervals without a dispatch are absent.
  std::span<const DtlPoint> points() const { return points_; }
  // Dispatches in intervals that exceeded the room.
  uint64_t left_out() const { return left_out_.dispatches; }
  // The lowest and the highest timebase so far.
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
  size_t current_ = SIZE_MAX;  // point of the cached interval; SIZE_MAX: left_out_
  uint64_t begin_ = 1,
           end_ = 0;  // cached interval in timebase, both ends included; initially empty
  uint64_t ticks_per_second_ = 0, boot_ = 0;  // clock of the cached interval
  uint64_t lowest_ = UINT64_MAX, highest_ = 0;
  std::optional<uint16_t> processor_;
};

}  // namespace htmtrace
