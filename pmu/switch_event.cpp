// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/switch_event.h"

#include <fmt/core.h>

#include <cerrno>

namespace htmtrace {

EventAttr switch_event_attr(size_t ring_bytes) {
  EventAttr attr;
  perf_event_attr& base = attr.base();
  base.type = PERF_TYPE_SOFTWARE;
  base.config = PERF_COUNT_SW_DUMMY;
  base.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  base.sample_id_all = 1;
  base.context_switch = 1;
  base.comm = 1;
  base.task = 1;
  base.disabled = 1;
  base.watermark = 1;
  base.wakeup_watermark = static_cast<uint32_t>(ring_bytes / 2);
  return attr;
}

Error explain_switch_open_failure(int error_number, int cpu) {
  Error error = Error("cannot open the event of context switches", error_number)
                    .on(fmt::format("cpu: {}", cpu));
  if (error_number == EACCES || error_number == EPERM) {
    return std::move(error).hint("grant CAP_PERFMON, run as root, or leave out --tasks");
  }
  if (error_number == EMFILE) {
    return std::move(error).hint(
        "this process may not open more files, of which --tasks needs one for each CPU: raise "
        "ulimit -n");
  }
  return error;
}

}  // namespace htmtrace
