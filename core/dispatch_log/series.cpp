// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/series.h"

#include <algorithm>

namespace htmtrace {

void DtlPoint::add(const DtlPoint& other) {
  dispatches += other.dispatches;
  preempted += other.preempted;
  stolen += other.stolen;
  late += other.late;
  moved += other.moved;
  same_chip += other.same_chip;
  same_node += other.same_node;
  longest = std::max(longest, other.longest);
}

void DtlSeries::add(std::span<const DtlEntry> entries, const DtlClock& clock) {
  if (clock.ticks_per_second == 0) return;
  const uint64_t window = clock.ticks_per_second / DtlAnalysis::kWindowsPerSecond;
  for (const DtlEntry& entry : entries) {
    DtlPoint& point = at(entry.timebase, clock);
    const uint64_t stolen = uint64_t{entry.enqueue_to_dispatch} + entry.ready_to_enqueue;
    point.dispatches++;
    point.preempted += entry.preempt_reason == kPreemptTimeSlice ? 1 : 0;
    point.stolen += stolen;
    point.late += stolen > window ? 1 : 0;
    point.longest = std::max(point.longest, entry.enqueue_to_dispatch);
    if (processor_) count_move(point, *processor_, entry.processor_id, 1);
    processor_ = entry.processor_id;
    lowest_ = std::min(lowest_, entry.timebase);
    highest_ = std::max(highest_, entry.timebase);
  }
}

void DtlSeries::add(const DtlStatistics& statistics, const DtlClock& clock) {
  const DtlAnalysis& of = statistics.analysis();
  if (clock.ticks_per_second == 0 || of.entries() == 0) return;
  DtlPoint& point = at(of.first(), clock);
  point.dispatches += of.entries();
  point.preempted += of.reasons().preempt[kPreemptTimeSlice];
  point.stolen += of.stolen();
  point.late += of.late();
  point.longest = std::max(point.longest, of.enqueue_to_dispatch().most());
  if (processor_ && of.first_processor()) count_move(point, *processor_, *of.first_processor(), 1);
  for (const auto& [move, times] : statistics.moves()) {
    count_move(point, static_cast<uint16_t>(move >> 16), static_cast<uint16_t>(move), times);
  }
  processor_ = of.last_processor();
  lowest_ = std::min({lowest_, of.first(), of.last()});
  highest_ = std::max({highest_, of.first(), of.last()});
}

void DtlSeries::count_move(DtlPoint& point, uint16_t from, uint16_t to, uint64_t times) const {
  if (from == to) return;
  point.moved += times;
  if (!bits_) return;
  if (bits_->same_chip(from, to)) {
    point.same_chip += times;
  } else if (bits_->same_node(from, to)) {
    point.same_node += times;
  }
}

// Most entries fall into the interval of the previous entry, so the function caches the interval's
// bounds.
DtlPoint& DtlSeries::at(uint64_t timebase, const DtlClock& clock) {
  if (timebase < begin_ || timebase > end_ || clock.ticks_per_second != ticks_per_second_ ||
      clock.boot_timebase != boot_) [[unlikely]] {
    const uint64_t interval = intervals_.of(timebase, clock);
    begin_ = std::min(clock.timebase_at(interval * intervals_.length_ns), timebase);
    const bool last = interval >= UINT64_MAX / intervals_.length_ns;
    end_ = last ? UINT64_MAX : clock.timebase_at((interval + 1) * intervals_.length_ns) - 1;
    ticks_per_second_ = clock.ticks_per_second;
    boot_ = clock.boot_timebase;
    return find(interval);
  }
  return current_ == SIZE_MAX ? left_out_ : points_[current_];
}

DtlPoint& DtlSeries::find(uint64_t interval) {
  auto place = points_.end();
  if (!points_.empty() && points_.back().interval >= interval) {
    place = std::ranges::lower_bound(points_, interval, {}, &DtlPoint::interval);
  }
  current_ = static_cast<size_t>(place - points_.begin());
  if (place != points_.end() && place->interval == interval) return *place;
  if (room_->fetch_sub(1, std::memory_order_relaxed) <= 0) {
    room_->fetch_add(1, std::memory_order_relaxed);
    current_ = SIZE_MAX;
    return left_out_;
  }
  return *points_.insert(place, {.interval = interval});
}

}  // namespace htmtrace
