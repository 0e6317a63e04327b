// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/htm_event.h"

#include <fmt/core.h>

#include "core/error.h"

namespace htmtrace {

EventAttr htm_event_attr(const PmuDescription& pmu, const TraceTarget& target) {
  EventAttr attr;
  attr.base().type = pmu.type();
  // The event's own term covers the whole selection, so it goes first.
  pmu.store_event(attr, fmt::format("htm_{}", htm_type_name(target.type)));
  pmu.store(attr, "nodeindex", target.node);
  pmu.store(attr, "nodalchipindex", target.chip);
  pmu.store(attr, "coreindexonchip", target.core);

  attr.base().sample_period = 1;
  // Without RAW the kernel drops the memory map. A refused pinned event goes into the error state,
  // which poll() shows. It is also not rescheduled when other events come to the carrier CPU; that
  // would end the trace.
  attr.record_raw_samples();
  return attr;
}

EventAttr htm_generation_probe(const EventAttr& attr) {
  EventAttr probe = attr;
  probe.base().freq = 1;
  probe.base().sample_freq = 1;
  return probe;
}

EventAttr htm_witness_attr() {
  EventAttr attr;
  attr.base().type = PERF_TYPE_SOFTWARE;
  attr.base().config = PERF_COUNT_SW_DUMMY;
  // Not PERF_FORMAT_GROUP: reading the group would read, and so drain, the htm event.
  attr.base().read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                            PERF_FORMAT_ID | PERF_FORMAT_LOST;
  return attr;
}

std::string describe_event(const TraceTarget& target) {
  return fmt::format("htm/htm_{},nodeindex={},nodalchipindex={},coreindexonchip={}/",
                     htm_type_name(target.type), target.node, target.chip, target.core);
}

}  // namespace htmtrace
