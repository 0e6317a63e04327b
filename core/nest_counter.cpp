// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_counter.h"

#include <utility>

namespace htmtrace::nest {
namespace {

constexpr unsigned kClassBits = 8;

}  // namespace

Counter::Counter(Layout layout, uint8_t engine, const TranslationMap& map)
    : layout_(layout), engine_(engine), names_(&names_of(layout)), cursor_(map) {
  if (layout != Layout::kUnknown) waiting_ = ZeroedArray<uint64_t>(kResponseKeys);
}

template <class Fields>
void Counter::take_response(const Record& record, unsigned slot) {
  const Response response = Fields::response(record, slot);
  statistics_.responses++;
  uint64_t& waiting = waiting_[response_key(response, port_of_response<Fields>(response, engine_))];
  const uint64_t command = std::exchange(waiting, 0);
  if (command == 0 || next_ - (command >> kClassBits) > Decoder::kReach) {
    next_++;  // an event of its own
    return;
  }
  statistics_.matched_responses++;
  const auto of = static_cast<ResponseClass>(command & ((1U << kClassBits) - 1));
  if (names_->response(of, response.code).empty()) statistics_.unnamed_responses++;
}

template <class Fields>
void Counter::take_command(const Record& record) {
  const Command command = Fields::command(record);
  const CommandName& name = names_->command(command.ttype, command.tsize);
  statistics_.commands++;
  if (name.name.empty()) statistics_.unnamed_commands++;
  if (name.port == PortRule::kAddress) {
    const bool found = cursor_.find(RealAddr{command.address}) != nullptr;
    (found ? statistics_.translated : statistics_.untranslated)++;
  }
  waiting_[command_key(command, port_of(layout_, command, name.port))] =
      next_++ << kClassBits | static_cast<uint64_t>(name.response);
  if (Fields::slot_valid(record, Fields::kEmbeddedSlot)) {
    take_response<Fields>(record, Fields::kEmbeddedSlot);
  }
}

template <class Fields>
void Counter::take_records(std::span<const std::byte> records) {
  for (size_t at = 0; at + kRecordBytes <= records.size(); at += kRecordBytes) {
    const Record record = record_at(records.data() + at);
    const RecordType type = record_type(record);
    if (type == RecordType::kStamp) {
      take_stamp(record);
      continue;
    }
    clock_.pass(Fields::delta(record));
    if (type == RecordType::kCommand) {
      take_command<Fields>(record);
      continue;
    }
    statistics_.response_records++;
    for (const unsigned slot : Fields::kSlots) {
      if (Fields::slot_valid(record, slot)) take_response<Fields>(record, slot);
    }
  }
}

void Counter::take_unknown(std::span<const std::byte> records) {
  for (size_t at = 0; at + kRecordBytes <= records.size(); at += kRecordBytes) {
    const Record record = record_at(records.data() + at);
    switch (record_type(record)) {
      case RecordType::kStamp:
        take_stamp(record);
        break;
      case RecordType::kCommand:
        statistics_.commands++;
        break;
      case RecordType::kResponses:
        statistics_.response_records++;
        break;
    }
  }
}

void Counter::take_stamp(const Record& record) {
  if (is_filler(record)) {
    statistics_.filler_records++;
    return;
  }
  next_++;
  if (is_stamp(record)) {
    Event event;
    event.record = record;
    count_stamp(stamp_of(layout_, event), clock_, statistics_);
  } else {
    statistics_.unknown_records++;
  }
}

void Counter::take(std::span<const std::byte> records) {
  statistics_.bytes += records.size();
  statistics_.loose_bytes += records.size() % kRecordBytes;
  switch (layout_) {
    case Layout::kPower8:
      return take_records<Power8>(records);
    case Layout::kPower9:
      return take_records<Power9>(records);
    case Layout::kUnknown:
      return take_unknown(records);
  }
}

}  // namespace htmtrace::nest
