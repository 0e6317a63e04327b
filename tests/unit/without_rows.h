// SPDX-License-Identifier: GPL-2.0-or-later
// Passes each instruction to a sink by itself, so that a test can compare the result with that of
// the sink's Rows (core/core_trace/sink.h).
#pragma once

#include "core/core_trace/events.h"
#include "core/core_trace/radix_walk.h"
#include "core/core_trace/sink.h"

namespace htmtrace {

// A sink for CoreDecoder. `next` must outlive it.
template <CoreSink Next>
class WithoutRows {
 public:
  explicit WithoutRows(Next& next) : next_(next) {}

  void instruction(const Instruction& instruction) { next_.instruction(instruction); }
  void stamp(const Stamp& stamp) { next_.stamp(stamp); }
  void walk(const Walk& walk) {
    if constexpr (HasWalk<Next>) next_.walk(walk);
  }
  void defect(const Defect& defect) { next_.defect(defect); }

 private:
  Next& next_;
};

}  // namespace htmtrace
