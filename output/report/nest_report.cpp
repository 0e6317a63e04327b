// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/nest_report.h"

#include <fmt/core.h>

#include <iterator>
#include <string_view>

namespace htmtrace {

std::string describe(const nest::Statistics& s) {
  std::string text;
  const auto always = [&](std::string_view name, uint64_t count) {
    fmt::format_to(std::back_inserter(text), "  {:<28} {:>16}\n", name, count);
  };
  const auto if_any = [&](std::string_view name, uint64_t count) {
    if (count != 0) always(name, count);
  };
  always("bytes", s.bytes);
  always("commands", s.commands);
  if_any("  of no known name", s.unnamed_commands);
  if_any("  addresses translated", s.translated);
  if_any("  addresses not translated", s.untranslated);
  if_any("records of responses", s.response_records);
  if_any("responses", s.responses);
  if_any("  whose command is known", s.matched_responses);
  if_any("  that fit several commands", s.ambiguous_responses);
  if_any("  of no known name", s.unnamed_responses);
  if_any("filler records", s.filler_records);
  for (unsigned i = 0; i < kStampKinds; i++) {
    if_any(fmt::format("stamps: {}", stamp_kind_name(static_cast<StampKind>(i))), s.stamps.at(i));
  }
  if_any("stamps with a timer", s.timers);
  if_any("  that disagree with ticks", s.timer_disagreements);
  if_any("elapsed overflows", s.elapsed_overflows);
  if_any("lost: records", s.records_dropped);
  if_any("lost: record count overflows", s.record_counter_overflows);
  if_any("lost: markers", s.markers_dropped);
  if_any("lost: responses", s.responses_dropped);
  if_any("lost: triggers", s.triggers_dropped);
  if_any("lost: trace full", s.trace_full);
  if_any("defect: unknown records", s.unknown_records);
  if_any("defect: loose bytes at end", s.loose_bytes);
  return text;
}

}  // namespace htmtrace
