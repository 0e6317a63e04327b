// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/json_printer.h"

#include <fmt/core.h>

#include <iterator>

#include "output/io/json_writer.h"

namespace htmtrace {

JsonPrinter::JsonPrinter(TextOutput& output, std::string_view target, bool with_stamps,
                         const SymbolTable* symbols)
    : output_(output),
      begin_("{\"target\":" + json_string(target)),
      begin_instruction_(begin_ + ",\"type\":\"instruction\",\"offset\":"),
      with_stamps_(with_stamps),
      names_(symbols) {}

char* JsonPrinter::put_symbol(char* to, std::string_view name) {
  if (name.empty()) return to;
  output_.commit(put_text(to, ",\"symbol\":"));
  output_.put(json_string(name));
  return output_.room();
}

std::string json_stamp_fields(const Stamp& stamp) {
  std::string line = fmt::format("\"kind\":\"{}\",\"word\":\"0x{:016x}\"",
                                 stamp_kind_name(stamp.kind), stamp.word);
  const auto out = std::back_inserter(line);
  switch (stamp.kind) {
    case StampKind::kRecord:
      fmt::format_to(out, ",\"counter\":{}", stamp.counter);
      break;
    case StampKind::kComplete:
    case StampKind::kPause:
    case StampKind::kTime:
      fmt::format_to(out, ",\"elapsed\":{}", stamp.elapsed);
      break;
    case StampKind::kMark:
      fmt::format_to(out, ",\"group\":{},\"chip\":{},\"unit\":{},\"value\":{}", stamp.mark.group,
                     stamp.mark.chip, stamp.mark.unit, stamp.mark.value);
      break;
    case StampKind::kSync:
    case StampKind::kUndefined:
      break;
  }
  if (stamp.companion_timer) fmt::format_to(out, ",\"timer\":{}", *stamp.companion_timer);
  const StampLosses& losses = stamp.losses;
  if (losses.records != 0) fmt::format_to(out, ",\"records_dropped\":{}", losses.records);
  if (losses.records_overflow) line += ",\"record_counter_overflow\":true";
  if (losses.marker) line += ",\"marker_dropped\":true";
  if (losses.response) line += ",\"response_dropped\":true";
  if (losses.trigger) line += ",\"trigger_dropped\":true";
  if (losses.trace_full) line += ",\"trace_full\":true";
  if (losses.elapsed_overflow) line += ",\"elapsed_overflow\":true";
  if (losses.unknown) line += ",\"unknown_indication\":true";
  return line;
}

void JsonPrinter::put_stamp(const Stamp& stamp) {
  output_.put(fmt::format("{},\"type\":\"stamp\",\"offset\":{},{}}}\n", begin_, stamp.offset,
                          json_stamp_fields(stamp)));
}

}  // namespace htmtrace
