// SPDX-License-Identifier: GPL-2.0-or-later
// The records of one trace engine to events, with their times, and with responses joined to their
// commands. Decoding never fails: records are of fixed size, so damage stays in its record.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/big_endian.h"
#include "core/nest_events.h"
#include "core/nest_names.h"
#include "core/nest_statistics.h"

namespace htmtrace::nest {

// Ticks since the engine's trace began, or on the timer that its stamps tell.
class Clock {
 public:
  uint64_t now() const { return now_; }
  bool heard() const { return heard_; }
  void set(uint64_t now, bool heard) {
    now_ = now;
    heard_ = heard;
  }
  void pass(uint64_t ticks) { now_ += ticks; }

  // A stamp tells the 36 low bits of the timer. Returns whether they are what was added up.
  bool hear(uint64_t timer);

 private:
  static constexpr unsigned kTimerBits = 36;
  uint64_t now_ = 0;
  bool heard_ = false;
};

// What a decoder must know to go on in the middle of a trace.
struct Restart {
  // A command before, which a response may still find.
  struct Waiting {
    uint32_t key = 0;
    uint32_t distance = 0;  // how many events ago it was
    bool operator==(const Waiting&) const = default;
  };
  uint64_t offset = 0;  // of the next record
  uint64_t time = 0;    // before it; none that follows is earlier, but for what a first timer says
  bool timer_heard = false;
  uint64_t latest = 0;  // none before is later
  std::vector<Waiting> waiting;
  bool operator==(const Restart&) const = default;
};

class Decoder {
 public:
  // A response follows its command within so many records (the public parser of hw-trace looks back
  // as far as 500).
  static constexpr size_t kReach = 512;

  Decoder(Layout layout, uint8_t engine);

  // Nothing was taken yet: what comes first is what follows this place.
  void begin_at(const Restart& restart);

  // Of the place behind what was taken, but for its offset.
  Restart restart() const;
  bool timer_heard() const { return clock_.heard(); }

  // Takes whole records; `offset` is that of the first in the trace.
  void take(std::span<const std::byte> records, uint64_t offset);
  void finish() { finished_ = true; }

  // Events that can no longer change, in order. The caller says how many it took.
  std::span<const Event> ready() const;
  void drop(size_t count);

  Statistics& statistics() { return statistics_; }

 private:
  template <class Fields>
  void take_records(std::span<const std::byte> records, uint64_t offset);
  void take_unknown(std::span<const std::byte> records, uint64_t offset);
  template <class Fields>
  void take_command(Event event);
  template <class Fields>
  void take_response(const Event& from, unsigned slot);
  void take_stamp(Event& event);

  template <class Fields>
  std::vector<Restart::Waiting> waiting() const;

  // The command that a response belongs to; null when none waits for it.
  template <class Fields>
  Event* find_command(const Response& response, uint8_t port);

  static uint32_t key(unsigned scope, unsigned ticket, unsigned group, unsigned chip,
                      unsigned port) {
    return scope | ticket << 3 | group << 10 | chip << 14 | port << 17;
  }
  static constexpr size_t kKeys = 1 << 19;

  Layout layout_;
  uint8_t engine_;
  const Names* names_ = nullptr;
  Clock clock_;
  Statistics statistics_;
  std::vector<Event> events_;
  Event before_;                   // stands for commands before begin_at()
  uint64_t latest_ = 0;            // time that a timer then took back
  uint64_t first_ = 0;             // the number of events_[0] since the trace began, plus one
  size_t dropped_ = 0;             // of events_, from its begin
  std::vector<uint64_t> waiting_;  // by key: the number of the command that waits for a response
  bool finished_ = false;
};

// The port of a command by its address or kind.
uint8_t port_of(Layout layout, const Command& command, PortRule rule);

// The command of an event, and what it is called.
Command command_of(Layout layout, const Record& record);
Response response_of(Layout layout, const Record& record, unsigned slot);
const Names& names_of(Layout layout);

// Of an event that is a stamp.
Stamp stamp_of(Layout layout, const Event& event);

}  // namespace htmtrace::nest
