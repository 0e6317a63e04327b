// SPDX-License-Identifier: GPL-2.0-or-later
// The contents of the samples of a perf.data file.
#pragma once

#include <cstdint>

namespace htmtrace {

struct PerfSampling {
  static constexpr uint64_t kBranches = 0;
  static constexpr unsigned kMostBranches = 1024;
  // Instructions for each sample. kBranches: each sample stands for the instructions up to a taken
  // branch or an interrupt.
  uint64_t period = 1;
  bool stacks = false;    // with the call chain
  unsigned branches = 0;  // with this number of taken branches, at most kMostBranches
};

}  // namespace htmtrace
