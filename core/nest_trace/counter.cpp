// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_trace/counter.h"

namespace htmtrace::nest {

Counter::Counter(Layout layout, uint8_t engine, const TranslationMap& map)
    : layout_(layout), engine_(engine), names_(&names_of(layout)), cursor_(map), open_(layout) {}

// Inlined by force, as in core/nest_trace/words.h.
template <class Fields>
[[gnu::always_inline]] inline void Counter::take_slot(const Record& record, unsigned slot) {
  if (!Fields::slot_valid(record, slot)) return;
  const Response response = Fields::response(record, slot);
  take_response(response_key(response, port_of_response<Fields>(response, engine_)), response.code);
}

void Counter::take_response(uint32_t key, unsigned code) {
  statistics_.responses++;
  const OpenCommands::Found found = open_.take(key, next_);
  if (found.several) [[unlikely]]
    statistics_.ambiguous_responses++;
  // No branch depends on the command, as in OpenCommands. Without a command, the response becomes a
  // separate event.
  const uint64_t is_matched = found.number != 0 ? 1 : 0;
  next_ += 1 - is_matched;
  statistics_.matched_responses += is_matched;
  const ResponseClass of = classes_[found.number % classes_.size()];
  statistics_.unnamed_responses += names_->response(of, code).empty() ? is_matched : 0;
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
  classes_[next_ % classes_.size()] = name.response;
  open_.add(command_key(command, port_of(layout_, command, name.port)), next_++);
  take_slot<Fields>(record, Fields::kEmbeddedSlot);
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
    for_each_slot<Fields>([&](auto slot) { take_slot<Fields>(record, slot); });
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
