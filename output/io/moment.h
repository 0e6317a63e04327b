// SPDX-License-Identifier: GPL-2.0-or-later
// A moment on two clocks, in nanoseconds: wall-clock time for people, and a clock that never jumps.
#pragma once

#include <cstdint>

namespace htmtrace {

struct Moment {
  int64_t realtime_ns = 0;
  int64_t monotonic_ns = 0;
};

Moment now();

}  // namespace htmtrace
