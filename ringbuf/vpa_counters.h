// SPDX-License-Identifier: GPL-2.0-or-later
// What the hypervisor itself counts in a virtual processor's area (VPA): the second opinion about
// how complete a dispatch trace log is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "ringbuf/fd.h"

namespace htmtrace {

inline constexpr const char* kVpaRoot = "/sys/kernel/debug/powerpc/vpa";

struct VpaCounters {
  // Goes up with each stop and each dispatch.
  uint32_t dispatch_count = 0;
  // Entries written to the log since it was registered.
  uint64_t log_index = 0;
};

class VpaArea {
 public:
  // Of the virtual processor that is Linux's `cpu`. Empty when the kernel does not show it: no
  // debugfs, or not root.
  VpaArea(const std::filesystem::path& root, int cpu);

  // Nothing when it cannot be read.
  std::optional<VpaCounters> read() const;

 private:
  Fd file_;  // kept open, so that a reading takes as little time as it can
};

}  // namespace htmtrace
