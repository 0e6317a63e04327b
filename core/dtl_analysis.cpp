// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dtl_analysis.h"

namespace htmtrace {
namespace {

void add_counts(DtlPlaces::Table& to, const DtlPlaces::Table& from) {
  for (const auto& slot : from.top(from.size())) to.at(slot.key).count += slot.entry.count;
}

}  // namespace

void DtlReasons::add(const DtlReasons& other) {
  for (size_t code = 0; code < dispatch.size(); code++) {
    dispatch[code] += other.dispatch[code];
    preempt[code] += other.preempt[code];
  }
}

void DtlPlaces::add(const DtlPlaces& other) {
  add_counts(moves, other.moves);
  add_counts(processors, other.processors);
  add_counts(fault_pages, other.fault_pages);
  add_counts(instructions, other.instructions);
}

void DtlAnalysis::add(const DtlEntry& entry, int cpu, uint64_t ticks_per_second,
                      DtlPlaces& places) {
  enqueue_to_dispatch_.add(entry.enqueue_to_dispatch);
  ready_to_enqueue_.add(entry.ready_to_enqueue);
  waiting_to_ready_.add(entry.waiting_to_ready);
  reasons_.dispatch[entry.dispatch_reason]++;
  reasons_.preempt[entry.preempt_reason]++;

  if (entries() == 1) first_ = entry.timebase;
  last_ = entry.timebase;
  const uint64_t waited = static_cast<uint64_t>(entry.enqueue_to_dispatch) + entry.ready_to_enqueue;
  if (ticks_per_second != 0) {
    if (waited > ticks_per_second / kWindowsPerSecond) late_++;
    count_interval(entry, ticks_per_second / kIntervalsPerSecond);
  }

  if (processor_ && *processor_ != entry.processor_id) {
    moved_++;
    places.moves.at(uint64_t{*processor_} << 16 | entry.processor_id).count++;
  }
  processor_ = entry.processor_id;
  places.processors.at(static_cast<uint64_t>(cpu) << 16 | entry.processor_id).count++;
  places.instructions.at(entry.srr0).count++;
  if (entry.fault_address != 0) places.fault_pages.at(entry.fault_address / 4096).count++;
}

// The time stolen before a dispatch counts in the interval of the dispatch.
void DtlAnalysis::count_interval(const DtlEntry& entry, uint64_t length) {
  if (length == 0) return;
  const uint64_t begin = entry.timebase - entry.timebase % length;
  if (begin != current_.begin) {
    worst_ = worst();
    current_ = {begin, 0};
  }
  current_.stolen += static_cast<uint64_t>(entry.enqueue_to_dispatch) + entry.ready_to_enqueue;
}

void DtlAnalysis::add(const DtlAnalysis& other) {
  enqueue_to_dispatch_.add(other.enqueue_to_dispatch_);
  ready_to_enqueue_.add(other.ready_to_enqueue_);
  waiting_to_ready_.add(other.waiting_to_ready_);
  reasons_.add(other.reasons_);
  span_ += other.span();
  late_ += other.late_;
  moved_ += other.moved_;
}

}  // namespace htmtrace
