// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/migration_event.h"

namespace htmtrace {

// The kernel counts the moves in its own code, so the event must not exclude the kernel.
EventAttr migration_event_attr() {
  EventAttr attr;
  perf_event_attr& base = attr.base();
  base.type = PERF_TYPE_SOFTWARE;
  base.config = PERF_COUNT_SW_CPU_MIGRATIONS;
  base.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                     PERF_FORMAT_ID | PERF_FORMAT_LOST;
  return attr;
}

}  // namespace htmtrace
