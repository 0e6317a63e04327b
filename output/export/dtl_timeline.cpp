// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/dtl_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace htmtrace {
namespace {

// All tracks belong to one process, which represents the partition.
constexpr int kPartition = 1;

std::string reason(std::string_view name, uint8_t code) {
  return name.empty() ? fmt::format("{}", code) : std::string(name);
}

// Microseconds with three decimal digits.
std::string microseconds(uint64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

}  // namespace

void DtlTimeline::begin(std::string& to) const {
  to += R"({"displayTimeUnit":"ns","traceEvents":[)";
  to += fmt::format(
      R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":"virtual processors"}}}})",
      kPartition);
}

// Writes a comma ahead of each event, because begin() writes the first event. The event stays open:
// the caller adds arguments and the end.
void DtlTimeline::put_slice(int cpu, uint64_t from, uint64_t until, std::string_view name,
                            std::string& to) const {
  const uint64_t begin = clock_.nanoseconds(from).value_or(0);
  const uint64_t end = clock_.nanoseconds(until).value_or(0);
  fmt::format_to(std::back_inserter(to),
                 ",\n"
                 R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":"{}","args":{{)",
                 kPartition, cpu, microseconds(begin), microseconds(end - begin), name);
}

void DtlTimeline::put_run(int cpu, const DtlEntry& dispatch, uint64_t stopped,
                          std::string& to) const {
  put_slice(cpu, dispatch.timebase, stopped, fmt::format("processor {}", dispatch.processor_id),
            to);
  fmt::format_to(std::back_inserter(to), R"("dispatched":"{}"}}}})",
                 reason(dispatch_reason_name(dispatch.dispatch_reason), dispatch.dispatch_reason));
}

// The parts of the wait are in ticks.
void DtlTimeline::put_wait(int cpu, uint64_t stopped, const DtlEntry& dispatch,
                           std::string& to) const {
  put_slice(cpu, stopped, dispatch.timebase,
            reason(preempt_reason_name(dispatch.preempt_reason), dispatch.preempt_reason), to);
  fmt::format_to(std::back_inserter(to),
                 R"("waiting":{},"ready":{},"queued":{},"srr0":"{:#x}"}}}})",
                 dispatch.waiting_to_ready, dispatch.ready_to_enqueue, dispatch.enqueue_to_dispatch,
                 dispatch.srr0);
}

// The virtual processor ran from one dispatch until it stopped, and then waited for the next
// dispatch.
void DtlTimeline::add(int cpu, std::span<const DtlEntry> entries, std::string& to) {
  for (const DtlEntry& entry : entries) {
    const auto [last, first] = last_.try_emplace(cpu, entry);
    if (first) {
      fmt::format_to(
          std::back_inserter(to),
          ",\n"
          R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"CPU {}"}}}},)"
          R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
          kPartition, cpu, cpu, kPartition, cpu, cpu);
    } else if (entry.timebase < last->second.timebase) {
      left_out_++;
      continue;
    }
    const uint64_t waited =
        uint64_t{entry.enqueue_to_dispatch} + entry.ready_to_enqueue + entry.waiting_to_ready;
    // The wait cannot have begun earlier than the preceding dispatch.
    const uint64_t longest = first ? entry.timebase : entry.timebase - last->second.timebase;
    const uint64_t stopped = entry.timebase - std::min(waited, longest);
    if (!first) put_run(cpu, last->second, stopped, to);
    put_wait(cpu, stopped, entry, to);
    last->second = entry;
  }
}

void DtlTimeline::end(std::string& to) const {
  to += "]}\n";
}

}  // namespace htmtrace
