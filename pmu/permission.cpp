// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/permission.h"

#include <fmt/core.h>

#include <fstream>

namespace htmtrace {

std::string permission_hint(const std::filesystem::path& root) {
  int64_t level = 0;
  const bool known =
      static_cast<bool>(std::ifstream(root / "proc/sys/kernel/perf_event_paranoid") >> level);
  return fmt::format("grant CAP_PERFMON or run as root (kernel.perf_event_paranoid is {}{})",
                     known ? std::to_string(level) : "unknown",
                     known && level >= kAdminParanoidLevel
                         ? "; from 3 on, Debian's kernels require CAP_SYS_ADMIN instead"
                         : "");
}

}  // namespace htmtrace
