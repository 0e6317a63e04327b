// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_trace/layout.h"

#include <fmt/core.h>

#include "core/base/big_endian.h"
#include "core/base/counted.h"
#include "core/nest_trace/names.h"

namespace htmtrace::nest {
namespace {

constexpr uint64_t kNeededPercent = 95;
constexpr uint64_t kFewestCommands = 16;

// Valid scopes: POWER8 uses 0 to 3 (higher values are foreign scopes); POWER9 uses 0 and 2 to 5.
bool fits_power8(const Record& record) {
  const Command command = Power8::command(record);
  return command.scope <= 3 && !power8_names().command(command.ttype, command.tsize).name.empty();
}

bool fits_power9(const Record& record) {
  const Command command = Power9::command(record);
  return command.scope <= 5 && command.scope != 1 &&
         !power9_names().command(command.ttype, command.tsize).name.empty();
}

bool enough(uint64_t fit, uint64_t commands) {
  return fit * 100 >= commands * kNeededPercent;
}

Layout choose(const LayoutEvidence& e) {
  // Stamps alone distinguish POWER8 from later processors. A trace without commands needs no
  // layout.
  const bool timed = e.timed_stamps != 0;
  const bool untimed = e.stamps > e.timed_stamps;
  if (e.commands < kFewestCommands) {
    if (e.stamps == 0) return Layout::kUnknown;
    const bool power9 = timed && enough(e.fit_power9, e.commands);
    const bool power8 = !timed && enough(e.fit_power8, e.commands);
    return power9 ? Layout::kPower9 : (power8 ? Layout::kPower8 : Layout::kUnknown);
  }
  const bool power8 = !timed && enough(e.fit_power8, e.commands);
  const bool power9 = (timed || !untimed) && enough(e.fit_power9, e.commands);
  if (power8 && power9) return e.fit_power9 >= e.fit_power8 ? Layout::kPower9 : Layout::kPower8;
  return power9 ? Layout::kPower9 : (power8 ? Layout::kPower8 : Layout::kUnknown);
}

}  // namespace

LayoutEvidence judge_layout(std::span<const std::byte> beginning) {
  LayoutEvidence evidence;
  for (size_t at = 0; at + kRecordBytes <= beginning.size(); at += kRecordBytes) {
    const Record record = {load_be64(beginning.data() + at), load_be64(beginning.data() + at + 8)};
    if (is_filler(record)) continue;
    evidence.records++;
    if (is_stamp(record)) {
      evidence.stamps++;
      evidence.timed_stamps += has_timer(record) ? 1 : 0;
    } else if (record_type(record) == RecordType::kCommand) {
      evidence.commands++;
      evidence.fit_power8 += fits_power8(record) ? 1 : 0;
      evidence.fit_power9 += fits_power9(record) ? 1 : 0;
    }
  }
  evidence.layout = choose(evidence);
  return evidence;
}

std::string describe(const LayoutEvidence& e) {
  return describe(e, layout_name(e.layout));
}

std::string describe(const LayoutEvidence& e, std::string_view layout) {
  return fmt::format(
      "layout {}: of {}, {} are stamps ({} with a timer) and {} commands, of which {} fit "
      "POWER8 and {} POWER9",
      layout, counted(e.records, "record"), e.stamps, e.timed_stamps, e.commands, e.fit_power8,
      e.fit_power9);
}

const char* layout_name(Layout layout) {
  switch (layout) {
    case Layout::kPower8:
      return "POWER8";
    case Layout::kPower9:
      return "POWER9";
    case Layout::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace htmtrace::nest
