// SPDX-License-Identifier: GPL-2.0-or-later
// The time of waits during which no recorded virtual processor ran on the physical processor,
// divided by facts in the log of the waiting partition.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/hot_table.h"
#include "core/dispatch_log/entry.h"

namespace htmtrace {

class DtlUnknownTime {
 public:
  static constexpr unsigned kHours = 24;

  // Unknown ticks of a wait.
  struct Part {
    uint64_t not_queued = 0;  // ready, but not in the queue of a physical processor
    uint64_t queued = 0;
    bool late = false;             // the whole wait was longer than a dispatch window
    std::optional<unsigned> hour;  // of the dispatch, UTC
  };

  // Counts a dispatch of a virtual processor, with the unknown part of its wait.
  void add(int cpu, const DtlEntry& entry, const Part& part);

  // All functions return ticks.
  uint64_t not_queued() const { return not_queued_; }
  uint64_t queued() const { return queued_; }
  uint64_t all() const { return not_queued_ + queued_; }
  uint64_t late() const { return late_; }
  const std::array<uint64_t, 256>& by_preempt_reason() const { return preempt_; }
  // Waits whose hour is unknown are absent.
  const std::array<uint64_t, kHours>& by_hour() const { return hours_; }
  // Ticks of waits for the home: the physical processor on which the virtual processor was
  // dispatched most often, or of several such processors, the one with the lowest number. Empty if
  // there are too many processors.
  std::optional<uint64_t> for_home() const;

 private:
  struct Place {
    uint64_t count = 0;  // dispatches
    uint64_t unknown = 0;
  };
  // As many as DtlPlaces has room for.
  static constexpr size_t kMostPlaces = size_t{1} << 18;

  uint64_t not_queued_ = 0, queued_ = 0, late_ = 0;
  std::array<uint64_t, 256> preempt_{};
  std::array<uint64_t, kHours> hours_{};
  HotTable<Place> places_{kMostPlaces};  // keyed by CPU << 16 | processor
};

}  // namespace htmtrace
