// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/htm_event.h"

#include <fmt/core.h>

#include "core/base/error.h"

namespace htmtrace {

EventAttr htm_event_attr(const PmuDescription& pmu, const TraceTarget& target) {
  EventAttr attr;
  attr.base().type = pmu.type();
  // The event's own term sets the whole config word, so this term comes first.
  pmu.store_event(attr, fmt::format("htm_{}", htm_type_name(target.type)));
  pmu.store(attr, "nodeindex", target.node);
  pmu.store(attr, "nodalchipindex", target.chip);
  pmu.store(attr, "coreindexonchip", target.core);

  attr.base().sample_period = 1;
  // Without RAW, the kernel drops the memory map. A refused pinned event enters the error state,
  // which poll() reports. A pinned event also stays scheduled when other events use the carrier
  // CPU; rescheduling would end the trace.
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
  // Do not set PERF_FORMAT_GROUP: reading the group would also read, and thereby drain, the htm
  // event.
  attr.base().read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                            PERF_FORMAT_ID | PERF_FORMAT_LOST;
  return attr;
}

std::string describe_event(const TraceTarget& target) {
  return fmt::format("htm/htm_{},nodeindex={},nodalchipindex={},coreindexonchip={}/",
                     htm_type_name(target.type), target.node, target.chip, target.core);
}

}  // namespace htmtrace
