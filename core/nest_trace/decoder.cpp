// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_trace/decoder.h"

#include <algorithm>
#include <utility>

namespace htmtrace::nest {
namespace {

const Names& no_names() {
  static const Names names({}, {.ttypes = 128, .encodings = 256}, {});
  return names;
}

}  // namespace

const Names& names_of(Layout layout) {
  if (layout == Layout::kUnknown) return no_names();
  return layout == Layout::kPower8 ? power8_names() : power9_names();
}

bool Clock::hear(uint64_t timer) {
  constexpr uint64_t kMask = (uint64_t{1} << kTimerBits) - 1;
  if (!heard_) {
    heard_ = true;
    now_ = timer;
    return true;
  }
  const uint64_t ahead = (timer - now_) & kMask;
  if (ahead == 0) return true;
  // A timer value that lags by up to half a period counts as a disagreement,
  // not as a wrap.
  if (ahead < kMask / 2) now_ += ahead;
  return false;
}

Decoder::Decoder(Layout layout, uint8_t engine)
    : layout_(layout), engine_(engine), names_(&names_of(layout)), open_(layout) {}

std::span<const Event> Decoder::ready() const {
  const size_t held = finished_ ? 0 : kReach;
  const size_t there = events_.size() - dropped_;
  return std::span(events_).subspan(dropped_, there > held ? there - held : 0);
}

void Decoder::drop(size_t count) {
  dropped_ += count;
}

[[gnu::always_inline]] inline Event* Decoder::find_command(uint32_t key) {
  const OpenCommands::Found found = open_.take(key, first_ + events_.size());
  if (found.number == 0) return nullptr;
  if (found.several) [[unlikely]]
    statistics_.ambiguous_responses++;
  if (found.number < first_) [[unlikely]]
    return &before_;
  return &events_[found.number - first_];
}

template <class Fields>
std::vector<Restart::Waiting> Decoder::waiting() const {
  std::vector<Restart::Waiting> waiting;
  const uint64_t next = first_ + events_.size();
  const auto add = [&](const Event& event, uint64_t number) {
    if (event.kind != Event::Kind::kCommand || event.has_response) return;
    const Command command = Fields::command(event.record);
    waiting.push_back({.key = command_key(command, event.port),
                       .distance = static_cast<uint32_t>(next - number)});
  };
  const size_t first = events_.size() > kReach ? events_.size() - kReach : 0;
  for (size_t i = first; i < events_.size(); i++) add(events_[i], first_ + i);
  return waiting;
}

Restart Decoder::restart() const {
  Restart restart;
  restart.time = clock_.now();
  restart.timer_heard = clock_.heard();
  restart.latest = std::max(latest_, clock_.now());
  if (layout_ == Layout::kPower8) restart.waiting = waiting<Power8>();
  if (layout_ == Layout::kPower9) restart.waiting = waiting<Power9>();
  return restart;
}

void Decoder::begin_at(const Restart& restart) {
  clock_.set(restart.time, restart.timer_heard);
  first_ = OpenCommands::kFirst + kReach;  // the numbers of the waiting commands begin at kFirst
  if (open_.empty()) return;
  uint64_t latest = 0;
  for (const Restart::Waiting& one : restart.waiting) {
    if (one.key >= kResponseKeys || one.distance == 0 || one.distance > kReach) continue;
    const uint64_t number = first_ - one.distance;
    if (number <= latest) continue;  // the index is damaged
    open_.add(one.key, number);
    latest = number;
  }
}

// Fills in the event in the vector. Copying a new event would wait until all
// its fields are stored.
[[gnu::always_inline]] inline Event& Decoder::append(Event::Kind kind, Record record,
                                                     uint64_t offset) {
  Event& event = events_.emplace_back();
  event.offset = offset;
  event.time = clock_.now();
  event.record = record;
  event.kind = kind;
  event.engine = engine_;
  return event;
}

// Inlined by force, as in core/nest_trace/words.h.
template <class Fields>
[[gnu::always_inline]] inline void Decoder::take_slot(Record record, uint64_t offset,
                                                      unsigned slot) {
  if (!Fields::slot_valid(record, slot)) return;
  const Response response = Fields::response(record, slot);
  const uint8_t port = port_of_response<Fields>(response, engine_);
  take_response<Fields>(response_key(response, port), port, response.code, record, offset, slot);
}

// Not inlined, because take_records() would contain it once for each slot. Flattened for the reason
// that take_records() states.
template <class Fields>
[[gnu::noinline, gnu::flatten]] void Decoder::take_response(uint32_t key, uint8_t port,
                                                            unsigned code, Record record,
                                                            uint64_t offset, unsigned slot) {
  statistics_.responses++;
  if (Event* command = find_command(key)) {
    const Command fields = Fields::command(command->record);
    const CommandName& name = names_->command(fields.ttype, fields.tsize);
    command->has_response = true;
    command->response = static_cast<uint8_t>(code);
    statistics_.matched_responses++;
    if (names_->response(name.response, code).empty()) statistics_.unnamed_responses++;
    return;
  }
  Event& event = append(Event::Kind::kResponse, record, offset);
  event.port = port;
  event.slot = static_cast<uint8_t>(slot);
}

template <class Fields>
[[gnu::always_inline]] inline void Decoder::take_command(Record record, uint64_t offset) {
  const Command command = Fields::command(record);
  const CommandName& name = names_->command(command.ttype, command.tsize);
  const uint8_t port = port_of(layout_, command, name.port);
  statistics_.commands++;
  if (name.name.empty()) statistics_.unnamed_commands++;
  const uint64_t number = first_ + events_.size();
  append(Event::Kind::kCommand, record, offset).port = port;
  // A response in this record may belong to this command, but only if no
  // earlier command is open.
  open_.add(command_key(command, port), number);
  take_slot<Fields>(record, offset, Fields::kEmbeddedSlot);
}

// Takes the stamps, and passes each other record to `take`.
template <class Take>
void Decoder::each_record(std::span<const std::byte> records, uint64_t offset, const Take& take) {
  for (size_t at = 0; at + kRecordBytes <= records.size(); at += kRecordBytes) {
    const Record record = record_at(records.data() + at);
    const RecordType type = record_type(record);
    if (type == RecordType::kStamp) {
      take_stamp(record, offset + at);
    } else {
      take(record, offset + at, type);
    }
  }
}

// Flattened, because compilers otherwise call functions of std::vector for each event.
template <class Fields>
[[gnu::flatten]] void Decoder::take_records(std::span<const std::byte> records, uint64_t offset) {
  each_record(records, offset, [this](Record record, uint64_t at, RecordType type) {
    clock_.pass(Fields::delta(record));
    if (type == RecordType::kCommand) {
      take_command<Fields>(record, at);
      return;
    }
    statistics_.response_records++;
    for_each_slot<Fields>([&](auto slot) { take_slot<Fields>(record, at, slot); });
  });
}

// In an unknown layout, only the stamps and the type bits have a meaning.
void Decoder::take_unknown(std::span<const std::byte> records, uint64_t offset) {
  each_record(records, offset, [this](Record record, uint64_t at, RecordType type) {
    const bool is_command = type == RecordType::kCommand;
    (is_command ? statistics_.commands : statistics_.response_records)++;
    append(is_command ? Event::Kind::kCommand : Event::Kind::kResponse, record, at);
  });
}

// Not inlined, because stamps are rare.
[[gnu::noinline]] void Decoder::take_stamp(Record record, uint64_t offset) {
  if (is_filler(record)) {
    statistics_.filler_records++;
    return;
  }
  if (!is_stamp(record)) {
    statistics_.unknown_records++;
    append(Event::Kind::kUnknown, record, offset);
    return;
  }
  const Stamp stamp = stamp_of(layout_, {.offset = offset, .record = record});
  const uint64_t added_up = clock_.now() + stamp.elapsed;
  const bool first_timer = stamp.companion_timer && !clock_.heard();
  if (stamp.companion_timer) latest_ = std::max(latest_, added_up);
  count_stamp(stamp, clock_, statistics_);
  if (first_timer && clock_.now() > added_up) set_ahead(clock_.now() - added_up);
  append(Event::Kind::kStamp, record, offset);
}

// Changes only the last events, which ready() holds back in any case. The sizes
// of the caller's pieces therefore never change the output.
void Decoder::set_ahead(uint64_t ticks) {
  const size_t held = std::min(kReach, events_.size());
  for (size_t i = events_.size() - held; i < events_.size(); i++) events_[i].time += ticks;
}

void count_stamp(const Stamp& stamp, Clock& clock, Statistics& statistics) {
  statistics.stamp_records++;
  statistics.add(stamp);
  clock.pass(stamp.elapsed);
  if (!stamp.companion_timer) return;
  statistics.timers++;
  if (!clock.hear(*stamp.companion_timer)) statistics.timer_disagreements++;
}

void Decoder::take(std::span<const std::byte> records, uint64_t offset) {
  // Moving the remaining events pays off only after many dropped events.
  if (dropped_ > kReach * 4) {
    events_.erase(events_.begin(), events_.begin() + static_cast<ptrdiff_t>(dropped_));
    first_ += std::exchange(dropped_, 0);
  }
  statistics_.bytes += records.size();
  statistics_.loose_bytes += records.size() % kRecordBytes;
  switch (layout_) {
    case Layout::kPower8:
      return take_records<Power8>(records, offset);
    case Layout::kPower9:
      return take_records<Power9>(records, offset);
    case Layout::kUnknown:
      return take_unknown(records, offset);
  }
}

Stamp stamp_of(Layout layout, const Event& event) {
  const Generation marks = layout == Layout::kPower8 ? Generation::kPower8 : Generation::kPower10;
  Stamp stamp = parse_stamp(event.record.low, marks);
  stamp.offset = event.offset;
  if (has_timer(event.record)) stamp.companion_timer = words::companion_timer(event.record.high);
  return stamp;
}

}  // namespace htmtrace::nest
