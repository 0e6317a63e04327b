// SPDX-License-Identifier: GPL-2.0-or-later
// Which layout the records of a nest trace have, judged by the trace itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/nest_events.h"

namespace htmtrace::nest {

struct LayoutEvidence {
  Layout layout = Layout::kUnknown;
  uint64_t records = 0;       // looked at, without filler
  uint64_t stamps = 0;        // with the stamp's tag
  uint64_t timed_stamps = 0;  // of them, with a timer as POWER9 and later write
  uint64_t commands = 0;
  uint64_t fit_power8 = 0;  // commands that are one of POWER8's, of a legal scope
  uint64_t fit_power9 = 0;
  bool aligned() const { return stamps + commands != 0 && records != 0; }
};

// A layout is believed when the stamps do not speak against it and at least 95 of 100 commands have
// codes and scopes that it knows. Random bits fit POWER9's by 7 of 100 and POWER8's by 30 at most
// (computed from the tables).
LayoutEvidence judge_layout(std::span<const std::byte> beginning);

// What it rests on, in a sentence.
std::string describe(const LayoutEvidence& evidence);
// The same for a layout that the evidence does not decide. `layout` names it and the reason.
std::string describe(const LayoutEvidence& evidence, std::string_view layout);

// "POWER8", "POWER9", "unknown".
const char* layout_name(Layout layout);

}  // namespace htmtrace::nest
