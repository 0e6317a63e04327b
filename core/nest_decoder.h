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
#include "core/nest_open_commands.h"
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
  uint64_t now_ = 0;
  bool heard_ = false;
};

// What a decoder must know to go on in the middle of a trace.
struct Restart {
  // A command that is open at this offset. The oldest command is first.
  struct Waiting {
    uint32_t key = 0;       // command_key()
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
  static constexpr size_t kReach = OpenCommands::kReach;

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
  void take_command(Event& event);
  template <class Fields>
  void take_response(const Event& from, unsigned slot);
  void take_stamp(Event& event);
  // The first timer tells when the events before it were, of those that are still here.
  void set_ahead(uint64_t ticks);

  template <class Fields>
  std::vector<Restart::Waiting> waiting() const;

  // The command to which a response belongs; null when no command is open.
  template <class Fields>
  Event* find_command(const Response& response, uint8_t port);

  Layout layout_;
  uint8_t engine_;
  const Names* names_ = nullptr;
  Clock clock_;
  Statistics statistics_;
  std::vector<Event> events_;
  Event before_;         // stands for commands before begin_at()
  uint64_t latest_ = 0;  // time that a timer then took back
  uint64_t first_ = 0;   // the number of events_[0] since the trace began, plus one
  size_t dropped_ = 0;   // of events_, from its begin
  OpenCommands open_;    // keyed by response_key(); most traces have few different keys
  bool finished_ = false;
};

// The port of a command by its address or kind.
inline uint8_t port_of(Layout layout, const Command& command, PortRule rule) {
  const auto bits = static_cast<uint8_t>(command.address >> 7 & 3);
  if (layout == Layout::kPower8) return rule == PortRule::kAddress ? bits & 1 : 0;
  switch (rule) {
    case PortRule::kAddress:
      return bits;
    case PortRule::kFolded:
      return bits & 1;
    case PortRule::kZero:
      return 0;
    case PortRule::kTwo:
      return 2;
    case PortRule::kThree:
      return 3;
    case PortRule::kTransaction:
      return command.tag.transaction & 1;
    case PortRule::kEncoding:
      return command.tsize >> 1 & 1;
  }
  return 0;
}

// POWER9's two engines see the even and the odd ports; the response has the other bit of it.
template <class Fields>
uint8_t port_of_response(const Response& response, uint8_t engine) {
  const unsigned port =
      Fields::kPorts == 2 ? response.snoop_port : response.snoop_port << 1 | engine;
  return static_cast<uint8_t>(port);
}

// By these a response finds its command; below kResponseKeys.
inline constexpr size_t kResponseKeys = 1 << 19;
constexpr uint32_t response_key(const Response& response, unsigned port) {
  return response.scope | response.ticket << 3 | response.group << 10 | response.chip << 14 |
         port << 17;
}
constexpr uint32_t command_key(const Command& command, unsigned port) {
  return command.scope | command.ticket << 3 | command.tag.group << 10 | command.tag.chip << 14 |
         port << 17;
}

// The command of an event. Inlined by force, as in core/nest_words.h.
[[gnu::always_inline]] inline Command command_of(Layout layout, const Record& record) {
  return layout == Layout::kPower8 ? Power8::command(record) : Power9::command(record);
}

[[gnu::always_inline]] inline Response response_of(Layout layout, const Record& record,
                                                   unsigned slot) {
  return layout == Layout::kPower8 ? Power8::response(record, slot)
                                   : Power9::response(record, slot);
}
const Names& names_of(Layout layout);

// Of an event that is a stamp.
Stamp stamp_of(Layout layout, const Event& event);

// What it tells of time goes to `clock`.
void count_stamp(const Stamp& stamp, Clock& clock, Statistics& statistics);

}  // namespace htmtrace::nest
