// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/analysis.h"

#include <algorithm>

namespace htmtrace {
namespace {

void add_counts(DtlPlaces::Table& to, const DtlPlaces::Table& from) {
  for (const auto& slot : from.top(from.size())) to.at(slot.key).count += slot.entry.count;
  to.add_error(from.error());
}

// Counts consecutive equal keys with a single table access.
class Run {
 public:
  explicit Run(DtlPlaces::Table& table) : table_(table) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { finish(); }

  void add(uint64_t key) {
    if (key != key_) {
      finish();
      key_ = key;
    }
    count_++;
  }

 private:
  void finish() {
    if (count_ != 0) table_.at(key_).count += count_;
    count_ = 0;
  }

  DtlPlaces::Table& table_;
  uint64_t key_ = 0;
  uint64_t count_ = 0;
};

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
  distances_.same_chip += other.distances_.same_chip;
  distances_.same_node += other.distances_.same_node;
  distances_.elsewhere += other.distances_.elsewhere;
}

void DtlAnalysis::add(std::span<const DtlEntry> entries, int cpu, uint64_t ticks_per_second,
                      DtlPlaces& places) {
  if (entries.empty()) return;
  if (this->entries() == 0) first_ = entries.front().timebase;
  last_ = entries.back().timebase;
  for (const DtlEntry& entry : entries) {
    enqueue_to_dispatch_.add(entry.enqueue_to_dispatch);
    ready_to_enqueue_.add(entry.ready_to_enqueue);
    waiting_to_ready_.add(entry.waiting_to_ready);
    reasons_.dispatch[entry.dispatch_reason]++;
    reasons_.preempt[entry.preempt_reason]++;
  }
  if (ticks_per_second != 0) count_stolen(entries, ticks_per_second);

  Run processors(places.processors), instructions(places.instructions);
  if (!first_processor_) first_processor_ = entries.front().processor_id;
  for (const DtlEntry& entry : entries) {
    move(entry.processor_id, places);
    processors.add(static_cast<uint64_t>(cpu) << 16 | entry.processor_id);
    instructions.add(entry.srr0);
    if (entry.fault_address != 0) places.fault_pages.at(entry.fault_address / 4096).count++;
  }
}

void DtlAnalysis::move(uint16_t to, DtlPlaces& places) {
  if (processor_ && *processor_ != to) {
    moved_++;
    places.move(*processor_, to, 1);
  }
  processor_ = to;
}

// The time stolen before a dispatch counts in the interval of the dispatch.
void DtlAnalysis::count_stolen(std::span<const DtlEntry> entries, uint64_t ticks_per_second) {
  const uint64_t window = ticks_per_second / kWindowsPerSecond;
  const uint64_t length = std::max<uint64_t>(ticks_per_second / kIntervalsPerSecond, 1);
  for (const DtlEntry& entry : entries) {
    const uint64_t stolen = uint64_t{entry.enqueue_to_dispatch} + entry.ready_to_enqueue;
    if (stolen > window) late_++;
    intervals_.add(entry.timebase, stolen, length);
  }
}

void DtlAnalysis::add_counts(const DtlAnalysis& other) {
  enqueue_to_dispatch_.add(other.enqueue_to_dispatch_);
  ready_to_enqueue_.add(other.ready_to_enqueue_);
  waiting_to_ready_.add(other.waiting_to_ready_);
  reasons_.add(other.reasons_);
  late_ += other.late_;
  moved_ += other.moved_;
}

void DtlAnalysis::add(const DtlAnalysis& other) {
  add_counts(other);
  span_ += other.span();
}

void DtlAnalysis::append(const DtlAnalysis& later, DtlPlaces& places) {
  if (later.entries() == 0) return;
  if (entries() == 0) {
    first_ = later.first_;
    first_processor_ = later.first_processor_;
  }
  last_ = later.last_;
  if (later.first_processor_) move(*later.first_processor_, places);
  processor_ = later.processor_;
  add_counts(later);
  intervals_.append(later.intervals_);
}

}  // namespace htmtrace
