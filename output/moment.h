// SPDX-License-Identifier: GPL-2.0-or-later
// A moment on both clocks, in nanoseconds: one that people know, one that never jumps.
#pragma once

#include <cstdint>

namespace htmtrace {

struct Moment {
  int64_t realtime_ns = 0;
  int64_t monotonic_ns = 0;
};

Moment now();

}  // namespace htmtrace
