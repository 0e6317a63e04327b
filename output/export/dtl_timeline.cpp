// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/dtl_timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/export/trace_events.h"
#include "output/io/shares.h"

namespace htmtrace {
namespace {

// All tracks belong to one process, which represents the partition.
constexpr int kPartition = 1;

std::string reason(std::string_view name, uint8_t code) {
  return name.empty() ? fmt::format("{}", code) : std::string(name);
}

}  // namespace

DtlTimeline::DtlTimeline(const DtlClock& clock) : clock_(clock) {
  begin_trace_events(json_);
  put_name(json_, "process_name", kPartition, {}, "virtual processors");
}

// The event stays open: the caller adds arguments and ends both objects.
void DtlTimeline::begin_slice(int cpu, uint64_t from, uint64_t until, std::string_view name) {
  const uint64_t begin = clock_.nanoseconds(from).value_or(0);
  const uint64_t end = clock_.nanoseconds(until).value_or(0);
  json_.new_line();
  begin_event(json_, "X", kPartition, cpu);
  json_.formatted("ts", decimal(begin));
  json_.formatted("dur", decimal(end - begin));
  json_.text("name", name);
  json_.begin_object("args");
}

void DtlTimeline::put_run(int cpu, const DtlEntry& dispatch, uint64_t stopped) {
  begin_slice(cpu, dispatch.timebase, stopped, fmt::format("processor {}", dispatch.processor_id));
  json_.text("dispatched",
             reason(dispatch_reason_name(dispatch.dispatch_reason), dispatch.dispatch_reason));
  json_.end_object();
  json_.end_object();
}

// The parts of the wait are in ticks.
void DtlTimeline::put_wait(int cpu, uint64_t stopped, const DtlEntry& dispatch) {
  begin_slice(cpu, stopped, dispatch.timebase,
              reason(preempt_reason_name(dispatch.preempt_reason), dispatch.preempt_reason));
  json_.number("waiting", dispatch.waiting_to_ready);
  json_.number("ready", dispatch.ready_to_enqueue);
  json_.number("queued", dispatch.enqueue_to_dispatch);
  json_.text("srr0", fmt::format("{:#x}", dispatch.srr0));
  json_.end_object();
  json_.end_object();
}

// The virtual processor ran from one dispatch until it stopped, and then waited for the next
// dispatch.
void DtlTimeline::add(int cpu, std::span<const DtlEntry> entries, std::string& to) {
  for (const DtlEntry& entry : entries) {
    const auto [last, first] = last_.try_emplace(cpu, entry);
    if (first) {
      json_.new_line();
      put_name(json_, "thread_name", kPartition, cpu, fmt::format("CPU {}", cpu));
      begin_event(json_, "M", kPartition, cpu);
      json_.text("name", "thread_sort_index");
      json_.begin_object("args");
      json_.number("sort_index", cpu);
      json_.end_object();
      json_.end_object();
    } else if (entry.timebase < last->second.timebase) {
      left_out_++;
      continue;
    }
    const uint64_t waited =
        uint64_t{entry.enqueue_to_dispatch} + entry.ready_to_enqueue + entry.waiting_to_ready;
    // The wait cannot have begun earlier than the preceding dispatch.
    const uint64_t longest = first ? entry.timebase : entry.timebase - last->second.timebase;
    const uint64_t stopped = entry.timebase - std::min(waited, longest);
    if (!first) put_run(cpu, last->second, stopped);
    put_wait(cpu, stopped, entry);
    last->second = entry;
  }
  to += json_.take_part();
}

void DtlTimeline::end(std::string& to) {
  end_trace_events(json_);
  to += json_.take();
}

}  // namespace htmtrace
