// SPDX-License-Identifier: GPL-2.0-or-later
// Infers the record layout of a nest trace from the trace.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/nest_trace/events.h"

namespace htmtrace::nest {

struct LayoutEvidence {
  Layout layout = Layout::kUnknown;
  uint64_t records = 0;       // examined records, without filler
  uint64_t stamps = 0;        // with the stamp's tag
  uint64_t timed_stamps = 0;  // stamps with a timer, as POWER9 and later write
  uint64_t commands = 0;
  uint64_t fit_power8 = 0;  // commands with a valid POWER8 code and scope
  uint64_t fit_power9 = 0;
};

// Accepts a layout if the stamps do not contradict it and at least 95 of 100 commands have valid
// codes and scopes. Random bits match POWER9's layout in 7 of 100 commands and POWER8's layout in
// at most 30 of 100 (computed from the tables).
LayoutEvidence judge_layout(std::span<const std::byte> beginning);

// The evidence in one sentence.
std::string describe(const LayoutEvidence& evidence);
// The same sentence for a layout that the evidence does not decide. `layout` states the layout and
// the reason.
std::string describe(const LayoutEvidence& evidence, std::string_view layout);

// "POWER8", "POWER9", "unknown".
const char* layout_name(Layout layout);

}  // namespace htmtrace::nest
