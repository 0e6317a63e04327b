// SPDX-License-Identifier: GPL-2.0-or-later
// Passes the walks through page tables from a decoder to its sink. Walks are off by default,
// because they take time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/core_trace/events.h"
#include "core/core_trace/framing.h"
#include "core/core_trace/power10_stream.h"
#include "core/core_trace/sink.h"
#include "core/core_trace/statistics.h"
#include "core/core_trace/walk_completer.h"
#include "core/core_trace/walk_tracker.h"

namespace htmtrace {

template <CoreSink Sink>
class WalkFollower {
 public:
  // Both arguments must outlive the follower.
  WalkFollower(CoreStatistics& statistics, Sink& sink) : statistics_(statistics), sink_(sink) {}

  // Completes each walk from earlier walks as far as possible. Passes the walks of an instruction
  // in the order of their records.
  void start() {
    tracker_ = std::make_unique<WalkTracker>();
    completer_ = std::make_unique<WalkCompleter>();
  }
  // Passes raw walks: as the records report them, in the order of WalkTracker::done(). The
  // statistics do not count raw walks.
  void start_raw() { tracker_ = std::make_unique<WalkTracker>(); }
  bool started() const { return tracker_ != nullptr; }
  // Returns true if later walks depend on earlier records.
  bool carries() const { return completer_ != nullptr || pending(); }
  // A walk waits for the instruction that ends its group.
  bool pending() const { return tracker_ && tracker_->pending(); }

  void take_xlate(const WordRun& run, const Framing& framing, uint64_t offset) {
    if (!tracker_) return;
    tracker_->take_xlate(run, framing, offset);
    pass();
  }
  void take_line(const Power10Line& line) {
    if (!tracker_) [[likely]]
      return;
    tracker_->take_line({line.address}, {line.page});
    pass();
  }
  [[gnu::always_inline]] void take_instruction(const Instruction& instruction) {
    if (!tracker_ || !tracker_->pending()) [[likely]]
      return;
    tracker_->take_instruction(instruction);
    pass();
  }
  // The next records do not belong to any pending walk.
  void abandon() {
    if (!tracker_) return;
    tracker_->abandon();
    pass();
  }

 private:
  void pass() {
    std::vector<Walk>& done = tracker_->done();
    if (completer_) complete(done);
    if constexpr (HasWalk<Sink>) {
      for (const Walk& walk : done) sink_.walk(walk);
    }
    done.clear();
  }

  void complete(std::vector<Walk>& done) {
    for (Walk& walk : done) completer_->take(walk);
    std::sort(done.begin(), done.end(),
              [](const Walk& a, const Walk& b) { return a.offset < b.offset; });
    for (const Walk& walk : done) statistics_.walks.add(walk);
  }

  CoreStatistics& statistics_;
  Sink& sink_;
  std::unique_ptr<WalkTracker> tracker_;
  std::unique_ptr<WalkCompleter> completer_;
};

}  // namespace htmtrace
