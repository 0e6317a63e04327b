// SPDX-License-Identifier: GPL-2.0-or-later
// Adds the page-table entries that the records of walks omit. It takes them from earlier walks of
// the trace.
#pragma once

#include "core/core_trace/radix_walk.h"
#include "core/core_trace/walk_memory.h"

namespace htmtrace {

class WalkCompleter {
 public:
  // Completes the walk if it led to an access, and learns from it. The walks must arrive in the
  // order of WalkTracker::done().
  void take(Walk& walk);

 private:
  void finish(Walk& walk);

  WalkMemory memory_;
};

}  // namespace htmtrace
