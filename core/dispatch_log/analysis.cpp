// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/analysis.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/base/spread.h"
#include "core/dispatch_log/place_counts.h"

namespace htmtrace {
namespace {

// With fewer entries, clearing the memory for counts takes longer than counting.
constexpr size_t kLeastAtOnce = 512;

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
  DtlColumns block;
  while (!entries.empty()) {
    const auto now = entries.first(std::min(entries.size(), kMostDtlEntries));
    entries = entries.subspan(now.size());
    block.assign(now);
    add(block, cpu, ticks_per_second, places);
  }
}

void DtlAnalysis::add(const DtlColumns& block, int cpu, uint64_t ticks_per_second,
                      DtlPlaces& places) {
  if (block.size == 0) return;
  if (entries() == 0) first_ = block.since.front();
  if (!first_processor_) first_processor_ = block.processor_of(0);
  count_waits_and_reasons(block);
  last_ = count_stolen(block, ticks_per_second);
  count_fault_pages(block, places);
  if (block.size < kLeastAtOnce || !count_at_once(block, cpu, places)) {
    count_in_order(block, cpu, places);
  }
  processor_ = block.processor_of(block.size - 1);
}

// One loop counts several fields: an increment waits for the preceding increment of the same
// counter, and meanwhile the processor counts the other fields. Each group except the last has one
// preempt reason, so its size is the count of the reason.
void DtlAnalysis::count_waits_and_reasons(const DtlColumns& block) {
  TickHistogram::Adder enqueue_to_dispatch(enqueue_to_dispatch_);
  TickHistogram::Adder ready_to_enqueue(ready_to_enqueue_);
  TickHistogram::Adder waiting_to_ready(waiting_to_ready_);
  for (size_t i = 0; i < block.size; i++) {
    enqueue_to_dispatch.add(DtlColumns::ticks(block.enqueue_to_dispatch[i]));
    ready_to_enqueue.add(DtlColumns::ticks(block.ready_to_enqueue[i]));
    waiting_to_ready.add(DtlColumns::ticks(block.waiting_to_ready[i]));
    reasons_.dispatch[block.dispatch_reason_of(i)]++;
  }
  const auto groups = std::span(block.groups.all());
  for (size_t i = 0; i + 1 < groups.size(); i++) reasons_.preempt[i] += groups[i].count;
  if (groups.back().count == 0) return;
  constexpr unsigned kFirstOfLast = DtlGroups::kGroups - 1;
  for (size_t i = 0; i < block.size; i++) {
    const uint8_t reason = block.preempt_reason_of(i);
    reasons_.preempt[reason] += reason >= kFirstOfLast ? 1 : 0;
  }
}

// The time stolen before a dispatch counts in the interval of the dispatch. Counts nothing without
// `ticks_per_second`. Returns the timebase of the last entry.
uint64_t DtlAnalysis::count_stolen(const DtlColumns& block, uint64_t ticks_per_second) {
  const uint64_t window = ticks_per_second / kWindowsPerSecond;
  const uint64_t length = std::max<uint64_t>(ticks_per_second / kIntervalsPerSecond, 1);
  uint64_t timebase = 0;
  if (ticks_per_second == 0) {
    for (const uint64_t since : block.of(block.since)) timebase += since;
    return timebase;
  }
  // These remain in registers.
  uint64_t late = 0;
  StolenIntervals::Current current(intervals_, length);
  block.groups.visit([&](size_t i, size_t place) {
    const uint64_t stolen = uint64_t{DtlColumns::ticks(block.enqueue_to_dispatch[place])} +
                            DtlColumns::ticks(block.ready_to_enqueue[place]);
    late += stolen > window ? 1 : 0;
    timebase += block.since[i];
    current.add(timebase, stolen);
  });
  late_ += late;
  return timebase;
}

// Counts the pages in the order of the entries, because the contents of a full table depend on the
// order. The loop has no branch on the data: the processor cannot predict which entries have a
// fault.
void DtlAnalysis::count_fault_pages(const DtlColumns& block, DtlPlaces& places) {
  if (std::ranges::all_of(block.of(block.fault_address), [](uint64_t each) { return each == 0; })) {
    return;
  }
  std::array<uint64_t, kMostDtlEntries> pages;
  size_t count = 0;
  block.groups.visit([&](size_t, size_t place) {
    pages[count] = block.fault_address[place] / 4096;
    count += block.fault_address[place] != 0 ? 1 : 0;
  });
  with_prefetch(
      places.fault_pages, std::span<const uint64_t>(pages).first(count),
      [](uint64_t page) { return page; },
      [&](uint64_t page) { places.fault_pages.at(page).count++; });
}

// Counts all moves and instructions of the entries before it adds them to the tables. Returns
// false, without a change, if a table might become full: its contents then depend on the order of
// the additions.
bool DtlAnalysis::count_at_once(const DtlColumns& block, int cpu, DtlPlaces& places) {
  // Also counts the entries without a move, as moves to the same processor. A branch on a move
  // would be mispredicted often.
  PlaceCounts<uint32_t, kMostDtlEntries> moves;
  PlaceCounts<uint64_t, kMostDtlEntries> instructions;
  uint32_t processor = processor_.value_or(block.processor_of(0));
  for (size_t i = 0; i < block.size; i++) {
    const uint32_t next = block.processor_of(i);
    moves.add(processor << 16 | next);
    processor = next;
  }
  for (const DtlGroups::Group& group : block.groups.all()) {
    const auto addresses = DtlColumns::of(block.srr0, group);
    if (addresses.empty()) continue;
    const uint64_t first = addresses.front();
    // The entries of a group often have one address, at which the virtual processor cedes.
    if (std::ranges::all_of(addresses, [=](uint64_t each) { return each == first; })) {
      instructions.add(first, addresses.size());
    } else {
      for (const uint64_t address : addresses) instructions.add(address);
    }
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

void DtlAnalysis::count_in_order(const DtlColumns& block, int cpu, DtlPlaces& places) {
  const auto into = [](DtlPlaces::Table& table) {
    return [&table](uint64_t key, uint64_t count) { table.at(key).count += count; };
  };
  Counter moves([&](uint64_t key, uint64_t count) {
    places.move(static_cast<uint16_t>(key >> 16), static_cast<uint16_t>(key), count);
  });
  Counter processors(into(places.processors)), instructions(into(places.instructions));
  uint16_t processor = processor_.value_or(block.processor_of(0));
  block.groups.visit([&](size_t i, size_t place) {
    const uint16_t next = block.processor_of(i);
    if (next != processor) {
      moved_++;
      moves.add(uint64_t{processor} << 16 | next);
      processor = next;
    }
    processors.add(static_cast<uint64_t>(cpu) << 16 | processor);
    instructions.add(block.srr0[place]);
  });
}

void DtlAnalysis::move(uint16_t to, DtlPlaces& places) {
  if (processor_ && *processor_ != to) {
    moved_++;
    places.move(*processor_, to, 1);
  }
  processor_ = to;
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
