// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes the records of one trace engine to events with times, and joins responses to their
// commands. Decoding never fails: records have a fixed size, so a defect affects only its record.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/big_endian.h"
#include "core/nest_trace/events.h"
#include "core/nest_trace/names.h"
#include "core/nest_trace/open_commands.h"
#include "core/nest_trace/statistics.h"

namespace htmtrace::nest {

// The time in ticks: since the start of the engine's trace and, from the first stamp with a timer
// on, the time of this timer.
class Clock {
 public:
  uint64_t now() const { return now_; }
  bool heard() const { return heard_; }
  void set(uint64_t now, bool heard) {
    now_ = now;
    heard_ = heard;
  }
  void pass(uint64_t ticks) { now_ += ticks; }

  // Accepts a stamp's timer, the low 36 bits of the time. The first timer sets the clock; later
  // timers move it forward. Returns false if the clock disagreed with a later timer.
  bool hear(uint64_t timer);

 private:
  uint64_t now_ = 0;
  bool heard_ = false;
};

// The state that a decoder needs to resume in the middle of a trace.
struct Restart {
  // A command that is open at `offset`. The oldest command is first.
  struct Waiting {
    uint32_t key = 0;       // command_key()
    uint32_t distance = 0;  // number of events since the command
    bool operator==(const Waiting&) const = default;
  };
  uint64_t offset = 0;  // offset of the next record
  uint64_t time = 0;    // of the preceding record; a lower bound for the following records, except
                        // for the jump at a first timer
  bool timer_heard = false;
  uint64_t latest = 0;  // an upper bound of the times of all preceding records
  std::vector<Waiting> waiting;
  bool operator==(const Restart&) const = default;
};

class Decoder {
 public:
  static constexpr size_t kReach = OpenCommands::kReach;

  Decoder(Layout layout, uint8_t engine);

  // Resumes at `restart`. Must precede the first take().
  void begin_at(const Restart& restart);

  // The state after the consumed records; the caller sets `offset`.
  Restart restart() const;
  bool timer_heard() const { return clock_.heard(); }

  // Consumes whole records; `offset` is the offset of the first record in the trace.
  void take(std::span<const std::byte> records, uint64_t offset);
  void finish() { finished_ = true; }

  // Final events, in order. The caller passes the number of consumed events to drop().
  std::span<const Event> ready() const;
  void drop(size_t count);

  Statistics& statistics() { return statistics_; }

 private:
  template <class Take>
  void each_record(std::span<const std::byte> records, uint64_t offset, const Take& take);
  template <class Fields>
  void take_records(std::span<const std::byte> records, uint64_t offset);
  void take_unknown(std::span<const std::byte> records, uint64_t offset);
  // Appends an event with the current time.
  Event& append(Event::Kind kind, Record record, uint64_t offset);
  template <class Fields>
  void take_command(Record record, uint64_t offset);
  template <class Fields>
  void take_slot(Record record, uint64_t offset, unsigned slot);
  template <class Fields>
  void take_response(uint32_t key, uint8_t port, unsigned code, Record record, uint64_t offset,
                     unsigned slot);
  void take_stamp(Record record, uint64_t offset);
  // The first timer corrects the times of the earlier events that are still in memory.
  void set_ahead(uint64_t ticks);

  template <class Fields>
  std::vector<Restart::Waiting> waiting() const;

  // The command of a response, or null if no command is open.
  Event* find_command(uint32_t key);

  Layout layout_;
  uint8_t engine_;
  const Names* names_ = nullptr;
  Clock clock_;
  Statistics statistics_;
  std::vector<Event> events_;
  Event before_;                           // stands for commands that precede begin_at()
  uint64_t latest_ = 0;                    // the latest time that a timer then set back
  uint64_t first_ = OpenCommands::kFirst;  // the number of events_[0]
  size_t dropped_ = 0;                     // number of dropped events at the start of events_
  OpenCommands open_;  // keyed by response_key(); most traces use few distinct keys
  bool finished_ = false;
};

// The port of a command, derived from its address or kind.
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

// POWER9's two engines see the even and the odd ports. The response holds the other bit of the
// port.
template <class Fields>
uint8_t port_of_response(const Response& response, uint8_t engine) {
  const unsigned port =
      Fields::kPorts == 2 ? response.snoop_port : response.snoop_port << 1 | engine;
  return static_cast<uint8_t>(port);
}

// A response and its command share this key, which is below kResponseKeys.
inline constexpr size_t kResponseKeys = 1 << OpenCommands::kKeyBits;
constexpr uint32_t response_key(const Response& response, unsigned port) {
  return response.scope | response.ticket << 3 | response.group << 10 | response.chip << 14 |
         port << 17;
}
constexpr uint32_t command_key(const Command& command, unsigned port) {
  return command.scope | command.ticket << 3 | command.tag.group << 10 | command.tag.chip << 14 |
         port << 17;
}

// The command of a record. Inlined by force, as in core/nest_trace/words.h.
[[gnu::always_inline]] inline Command command_of(Layout layout, const Record& record) {
  return layout == Layout::kPower8 ? Power8::command(record) : Power9::command(record);
}

[[gnu::always_inline]] inline Response response_of(Layout layout, const Record& record,
                                                   unsigned slot) {
  return layout == Layout::kPower8 ? Power8::response(record, slot)
                                   : Power9::response(record, slot);
}
const Names& names_of(Layout layout);

// `event` must be a stamp.
Stamp stamp_of(Layout layout, const Event& event);

// Adds the stamp to `statistics` and its time to `clock`.
void count_stamp(const Stamp& stamp, Clock& clock, Statistics& statistics);

}  // namespace htmtrace::nest
