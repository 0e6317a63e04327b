// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/workload_event.h"

namespace htmtrace {

EventAttr workload_event_attr() {
  EventAttr attr;
  perf_event_attr& base = attr.base();
  base.type = PERF_TYPE_SOFTWARE;
  base.config = PERF_COUNT_SW_TASK_CLOCK;
  base.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                     PERF_FORMAT_ID | PERF_FORMAT_LOST;
  base.inherit = 1;
  base.mmap = 1;
  base.mmap2 = 1;
  base.task = 1;
  return attr;
}

}  // namespace htmtrace
