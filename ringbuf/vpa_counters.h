// SPDX-License-Identifier: GPL-2.0-or-later
// The hypervisor's own counters in a virtual processor's area (VPA). They verify the completeness
// of a dispatch trace log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/base/fd.h"

namespace htmtrace {

inline constexpr const char* kVpaRoot = "/sys/kernel/debug/powerpc/vpa";

struct VpaCounters {
  // Increases by one with each stop and with each dispatch.
  uint32_t dispatch_count = 0;
  // Entries written to the log since its registration.
  uint64_t log_index = 0;
};

class VpaArea {
 public:
  // The area of Linux's `cpu`. Empty if the kernel does not expose the area: debugfs is missing, or
  // the user is not root.
  VpaArea(const std::filesystem::path& root, int cpu);

  // Returns nothing if the area cannot be read.
  std::optional<VpaCounters> read() const;

 private:
  Fd file_;  // stays open to keep the time of a reading short
};

}  // namespace htmtrace
