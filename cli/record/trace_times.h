// SPDX-License-Identifier: GPL-2.0-or-later
// The begin and the end of each trace of a recording, as its schedule requests.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "cli/record/options.h"

namespace htmtrace {

class TraceTimes {
 public:
  using Clock = std::chrono::steady_clock;

  // `schedule` outlives this object.
  explicit TraceTimes(const Schedule& schedule) : schedule_(schedule) {}

  // A trace has begun.
  void note_begin(Clock::time_point now) {
    begin_ = now;
    const bool each = schedule_.windows.has_value();
    // A snapshot or another trace does not delay the end of the recording.
    if (schedule_.duration && !each && !last_end_) last_end_ = now + *schedule_.duration;
    if (each) end_ = now + *schedule_.duration;
    if (schedule_.rotate) end_ = now + *schedule_.rotate;
    if (last_end_) end_ = std::min(end_.value_or(*last_end_), *last_end_);
  }

  // The trace has lasted for its full time, until end().
  void note_complete() { completed_++; }
  // The trace has ended, early or not.
  void note_end(Clock::time_point now) { traced_ += now - begin_; }

  // Empty if the trace has no time limit.
  const std::optional<Clock::time_point>& end() const { return end_; }

  // The total length of the traces.
  std::chrono::nanoseconds traced() const { return traced_; }

  // Returns true if another trace follows the complete traces.
  bool another(Clock::time_point now) const {
    if (schedule_.rotate) return !last_end_ || now < *last_end_;
    return completed_ < schedule_.windows.value_or(1);
  }

  // The earliest begin of the next trace. Empty if it follows without a break.
  std::optional<Clock::time_point> next_begin() const {
    if (!schedule_.every) return std::nullopt;
    return begin_ + *schedule_.every;
  }

 private:
  const Schedule& schedule_;
  uint64_t completed_ = 0;
  std::chrono::nanoseconds traced_{0};
  Clock::time_point begin_;
  std::optional<Clock::time_point> end_;
  std::optional<Clock::time_point> last_end_;  // of the whole recording
};

}  // namespace htmtrace
