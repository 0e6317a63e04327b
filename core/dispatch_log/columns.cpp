// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/columns.h"

namespace htmtrace {

DtlTimes DtlColumns::assign(std::span<const DtlEntry> entries) {
  size = entries.size();
  groups.assign(size, [&](size_t i) { return entries[i].preempt_reason; });
  DtlTimes times;
  uint64_t before = 0;
  groups.visit([&](size_t i, size_t place) {
    const DtlEntry& entry = entries[i];
    since[i] = entry.timebase - before;
    before = entry.timebase;
    times.add(entry.timebase);
    processor[i] = entry.processor_id;
    srr1[i] = entry.srr1;
    reasons[i] = uint64_t{entry.dispatch_reason} << 8 | entry.preempt_reason;
    enqueue_to_dispatch[place] = entry.enqueue_to_dispatch;
    ready_to_enqueue[place] = entry.ready_to_enqueue;
    waiting_to_ready[place] = entry.waiting_to_ready;
    srr0[place] = entry.srr0;
    fault_address[place] = entry.fault_address;
  });
  return times;
}

void DtlColumns::copy_to(std::span<DtlEntry> to) const {
  uint64_t timebase = 0;
  groups.visit([&](size_t i, size_t place) {
    timebase += since[i];
    to[i] = {.dispatch_reason = dispatch_reason_of(i),
             .preempt_reason = preempt_reason_of(i),
             .processor_id = processor_of(i),
             .enqueue_to_dispatch = ticks(enqueue_to_dispatch[place]),
             .ready_to_enqueue = ticks(ready_to_enqueue[place]),
             .waiting_to_ready = ticks(waiting_to_ready[place]),
             .timebase = timebase,
             .fault_address = fault_address[place],
             .srr0 = srr0[place],
             .srr1 = srr1[i]};
  });
}

}  // namespace htmtrace
