// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/json_printer.h"

#include <fmt/core.h>

#include "output/io/json_writer.h"

namespace htmtrace {

JsonPrinter::JsonPrinter(TextOutput& output, std::string_view target, bool with_stamps,
                         const SymbolTable* symbols)
    : output_(output),
      begin_(fmt::format("{}{}", kJsonKey<InstructionField::kTarget, false>.text(),
                         json_string(target))),
      begin_instruction_(
          fmt::format("{}{}instruction\"", begin_, kJsonKey<InstructionField::kType, true>.text())),
      with_stamps_(with_stamps),
      names_(symbols) {}

char* JsonPrinter::put_string(char* to, std::string_view text) {
  output_.commit(to);
  output_.put(json_string(text));
  return output_.room();
}

std::string json_stamp_fields(const Stamp& stamp) {
  JsonWriter json(JsonWriter::Layout::kCompact);
  json.continue_object();
  json.text("kind", stamp_kind_name(stamp.kind));
  json.text("word", fmt::format("0x{:016x}", stamp.word));
  switch (stamp.kind) {
    case StampKind::kRecord:
      json.number("counter", stamp.counter);
      break;
    case StampKind::kComplete:
    case StampKind::kPause:
    case StampKind::kTime:
      json.number("elapsed", stamp.elapsed);
      break;
    case StampKind::kMark:
      json.number("group", stamp.mark.group);
      json.number("chip", stamp.mark.chip);
      json.number("unit", stamp.mark.unit);
      json.number("value", stamp.mark.value);
      break;
    case StampKind::kSync:
    case StampKind::kUndefined:
      break;
  }
  if (stamp.companion_timer) json.number("timer", *stamp.companion_timer);
  const StampLosses& losses = stamp.losses;
  if (losses.records != 0) json.number("records_dropped", losses.records);
  if (losses.records_overflow) json.boolean("record_counter_overflow", true);
  if (losses.marker) json.boolean("marker_dropped", true);
  if (losses.response) json.boolean("response_dropped", true);
  if (losses.trigger) json.boolean("trigger_dropped", true);
  if (losses.trace_full) json.boolean("trace_full", true);
  if (losses.elapsed_overflow) json.boolean("elapsed_overflow", true);
  if (losses.unknown) json.boolean("unknown_indication", true);
  return json.take_part().substr(1);  // without the comma
}

void JsonPrinter::put_stamp(const Stamp& stamp) {
  output_.put(fmt::format("{},\"type\":\"stamp\",\"offset\":{},{}}}\n", begin_, stamp.offset,
                          json_stamp_fields(stamp)));
}

}  // namespace htmtrace
