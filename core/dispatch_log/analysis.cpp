// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/analysis.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/base/spread.h"

namespace htmtrace {
namespace {

void add_counts(DtlPlaces::Table& to, const DtlPlaces::Table& from) {
  for (const auto& slot : from.top(from.size())) to.at(slot.key).count += slot.entry.count;
  to.add_error(from.error());
}

// Counts keys in a small cache before it counts them in a table: a virtual processor uses few
// physical processors and instructions at a time. put(key, count) adds to the table.
template <class Put>
class Counter {
 public:
  explicit Counter(Put put) : put_(put) {}
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() {
    for (const Row& row : rows_) {
      if (row.count != 0) put_(row.key, row.count);
    }
  }

  void add(uint64_t key) {
    Row& row = rows_[spread(key) >> (64 - kRowBits)];
    if (row.key != key) {
      if (row.count != 0) put_(row.key, row.count);
      row = {.key = key, .count = 0};
    }
    row.count++;
  }

 private:
  static constexpr unsigned kRowBits = 6;
  struct Row {
    uint64_t key = 0;
    uint64_t count = 0;
  };

  Put put_;
  std::array<Row, size_t{1} << kRowBits> rows_{};
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

  if (!first_processor_) first_processor_ = entries.front().processor_id;
  const auto into = [](DtlPlaces::Table& table) {
    return [&table](uint64_t key, uint64_t count) { table.at(key).count += count; };
  };
  Counter moves([&](uint64_t key, uint64_t count) {
    places.move(static_cast<uint16_t>(key >> 16), static_cast<uint16_t>(key), count);
  });
  Counter processors(into(places.processors)), instructions(into(places.instructions));
  uint16_t processor = processor_.value_or(entries.front().processor_id);
  for (const DtlEntry& entry : entries) {
    if (entry.processor_id != processor) {
      moved_++;
      moves.add(uint64_t{processor} << 16 | entry.processor_id);
      processor = entry.processor_id;
    }
    processors.add(static_cast<uint64_t>(cpu) << 16 | processor);
    instructions.add(entry.srr0);
    if (entry.fault_address != 0) places.fault_pages.at(entry.fault_address / 4096).count++;
  }
  processor_ = processor;
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
