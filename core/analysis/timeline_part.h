// SPDX-License-Identifier: GPL-2.0-or-later
// The events of a part of a core trace, for Timeline. Threads can collect different parts at the
// same time, before they know the positions of the parts in the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"

namespace htmtrace {

// A sink for CoreDecoder that follows a SelectingSink, which sets the position.
class TimelinePart {
 public:
  // The members of an instruction that a timeline needs.
  struct Seen {
    Privilege privilege = Privilege::kUnknown;
    uint8_t data_accesses = 0;
  };
  struct Event {
    enum class Kind : uint8_t {
      kPlace,         // the instruction at `place` has other ticks than its predecessor
      kInstructions,  // `count` selected instructions, the first at `place`
      kLoss,          // after the instruction at `place`
      kEarlyLoss,     // before all instructions of the part
    };
    Kind kind = Kind::kPlace;
    TracePlace place;
    size_t count = 0;
  };

  // The last call receives the position of the part's end.
  void at(const TracePlace& place) {
    if (place.ticks != place_.ticks || !begun_) [[unlikely]]
      put(Event::Kind::kPlace, place);
    begun_ = true;
    place_ = place;
  }
  void instruction(const Instruction& instruction) {
    if (place_.instructions != next_) [[unlikely]] {
      put(Event::Kind::kInstructions, place_);
      next_ = place_.instructions;
    }
    next_++;
    events_.back().count++;
    seen_.push_back({privilege_of(instruction.modes), instruction.data_count});
  }
  void stamp(const Stamp& stamp) {
    if (stamp.losses.any()) put(begun_ ? Event::Kind::kLoss : Event::Kind::kEarlyLoss, place_);
  }
  void defect(const Defect&) {}

  // Call finish() after the end of the part and before the following functions. It removes the
  // ticks at the end, which belong to the first instruction of the next part.
  void finish() {
    if (events_.empty()) return;
    const Event& last = events_.back();
    if (last.kind == Event::Kind::kPlace && last.place == place_) events_.pop_back();
  }
  const std::vector<Event>& events() const { return events_; }
  // The selected instructions of all events.
  const std::vector<Seen>& seen() const { return seen_; }
  const TracePlace& end() const { return place_; }

  // Keeps the allocated memory.
  void clear() {
    events_.clear();
    seen_.clear();
    place_ = {};
    begun_ = false;
    next_ = kNone;
  }

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};

  void put(Event::Kind kind, const TracePlace& place) {
    events_.push_back({.kind = kind, .place = place});
    next_ = kNone;
  }

  std::vector<Event> events_;
  std::vector<Seen> seen_;
  TracePlace place_;
  bool begun_ = false;     // place_ is valid
  uint64_t next_ = kNone;  // number of the instruction that continues the last event
};

}  // namespace htmtrace
