// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/analysis.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/base/spread.h"
#include "core/dispatch_log/place_counts.h"

namespace htmtrace {
namespace {

// Several passes read the entries of a part. Parts of this size remain in the first-level cache.
constexpr size_t kPartEntries = 256;
// The memory for more entries would not remain in the caches; with fewer entries, clearing it takes
// longer than counting.
constexpr size_t kLeastAtOnce = 512, kMostAtOnce = 4096;

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
  if (!first_processor_) first_processor_ = entries.front().processor_id;
  const bool few = entries.size() < kLeastAtOnce;
  for (auto left = entries; !left.empty();) {
    const auto part = left.first(std::min(left.size(), kPartEntries));
    left = left.subspan(part.size());
    count_waits(part);
    if (ticks_per_second != 0) count_stolen(part, ticks_per_second);
    count_fault_pages(part, places);
  }
  if (few || entries.size() > kMostAtOnce || !count_at_once(entries, cpu, places)) {
    count_in_order(entries, cpu, places);
  }
  processor_ = entries.back().processor_id;
}

void DtlAnalysis::count_waits(std::span<const DtlEntry> entries) {
  TickHistogram::Adder enqueue_to_dispatch(enqueue_to_dispatch_);
  TickHistogram::Adder ready_to_enqueue(ready_to_enqueue_);
  TickHistogram::Adder waiting_to_ready(waiting_to_ready_);
  for (const DtlEntry& entry : entries) {
    enqueue_to_dispatch.add(entry.enqueue_to_dispatch);
    ready_to_enqueue.add(entry.ready_to_enqueue);
    waiting_to_ready.add(entry.waiting_to_ready);
    reasons_.dispatch[entry.dispatch_reason]++;
    reasons_.preempt[entry.preempt_reason]++;
  }
}

// Counts the pages in the order of the entries, because the contents of a full table depend on the
// order. The first loop has no branch on the data: the processor cannot predict which entries have
// a fault.
void DtlAnalysis::count_fault_pages(std::span<const DtlEntry> entries, DtlPlaces& places) {
  std::array<uint64_t, kPartEntries> pages;
  size_t count = 0;
  for (const DtlEntry& entry : entries) {
    pages[count] = entry.fault_address / 4096;
    count += entry.fault_address != 0 ? 1 : 0;
  }
  with_prefetch(
      places.fault_pages, std::span<const uint64_t>(pages).first(count),
      [](uint64_t page) { return page; },
      [&](uint64_t page) { places.fault_pages.at(page).count++; });
}

// Counts all moves and instructions of the entries before it adds them to the tables. Returns
// false, without a change, if a table might become full: its contents then depend on the order of
// the additions.
bool DtlAnalysis::count_at_once(std::span<const DtlEntry> entries, int cpu, DtlPlaces& places) {
  // Also counts the entries without a move, as moves to the same processor. A branch on a move
  // would be mispredicted often.
  PlaceCounts<uint32_t, kMostAtOnce> moves;
  PlaceCounts<uint64_t, kMostAtOnce> instructions;
  uint32_t processor = processor_.value_or(entries.front().processor_id);
  for (const DtlEntry& entry : entries) {
    moves.add(processor << 16 | entry.processor_id);
    processor = entry.processor_id;
    instructions.add(entry.srr0);
  }
  const auto move_list = moves.list();
  const auto instruction_list = instructions.list();
  const auto processor_key = [cpu](uint32_t move) {
    return static_cast<uint64_t>(cpu) << 16 | (move & UINT16_MAX);
  };
  const auto instruction_key = [](const auto& row) { return row.key; };
  const auto has_room = [](const DtlPlaces::Table& table, const auto& list, const auto& key_of) {
    size_t room = table.room();
    if (list.size() <= room) return true;
    for (const auto& row : list) {
      if (table.contains(key_of(row))) continue;
      if (room-- == 0) return false;
    }
    return true;
  };
  if (!has_room(places.moves, move_list, [](const auto& row) { return row.key; }) ||
      !has_room(places.processors, move_list,
                [&](const auto& row) { return processor_key(row.key); }) ||
      !has_room(places.instructions, instruction_list, instruction_key)) {
    return false;
  }
  for (const auto& [move, count] : move_list) {
    places.processors.at(processor_key(move)).count += count;
    const auto from = static_cast<uint16_t>(move >> 16), to = static_cast<uint16_t>(move);
    if (from == to) continue;
    moved_ += count;
    places.move(from, to, count);
  }
  with_prefetch(places.instructions, instruction_list, instruction_key,
                [&](const auto& row) { places.instructions.at(row.key).count += row.count; });
  return true;
}

void DtlAnalysis::count_in_order(std::span<const DtlEntry> entries, int cpu, DtlPlaces& places) {
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
  // These remain in registers.
  uint64_t late = 0;
  StolenIntervals::Current current(intervals_, length);
  for (const DtlEntry& entry : entries) {
    const uint64_t stolen = uint64_t{entry.enqueue_to_dispatch} + entry.ready_to_enqueue;
    late += stolen > window ? 1 : 0;
    current.add(entry.timebase, stolen);
  }
  late_ += late;
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
