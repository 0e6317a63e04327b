// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/statistics.h"

#include <algorithm>
#include <array>

#include "core/base/packed_numbers.h"

namespace htmtrace {
namespace {

using Counts = DtlStatistics::Counts;

// Stands for a missing processor number.
constexpr uint64_t kNoProcessor = uint64_t{1} << 16;

Counts sorted(const DtlPlaces::Table& table) {
  Counts counts;
  counts.reserve(table.size());
  for (const auto& slot : table.entries()) counts.emplace_back(slot.key, slot.entry.count);
  std::ranges::sort(counts);
  return counts;
}

void add_to(DtlPlaces::Table& table, const Counts& counts, uint64_t upper = 0) {
  for (const auto& [key, count] : counts) table.at(upper | key).count += count;
}

// The number of keys, the difference of each key from the previous key, and the counts.
void put_counts(std::vector<std::byte>& to, const Counts& counts) {
  std::vector<uint64_t> numbers(counts.size());
  pack_word(counts.size(), to);
  uint64_t before = 0;
  for (size_t i = 0; i < counts.size(); i++) {
    numbers[i] = counts[i].first - before;
    before = counts[i].first;
  }
  pack_numbers(numbers, to);
  for (size_t i = 0; i < counts.size(); i++) numbers[i] = counts[i].second;
  pack_numbers(numbers, to);
}

Counts used(std::span<const uint64_t> counts) {
  Counts result;
  for (size_t i = 0; i < counts.size(); i++) {
    if (counts[i] != 0) result.emplace_back(i, counts[i]);
  }
  return result;
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : reader_(bytes) {}

  uint64_t word() { return reader_.word(); }

  // Rejects keys above `highest`.
  void counts(Counts& counts, uint64_t highest) {
    const uint64_t size = word();
    if (size > DtlStatistics::kMostKeys) return fail();
    keys_.resize(size);
    times_.resize(size);
    reader_.numbers(keys_);
    reader_.numbers(times_);
    counts.resize(size);
    uint64_t key = 0;
    for (size_t i = 0; i < size; i++) {
      counts[i] = {key += keys_[i], times_[i]};
      if (key > highest) return fail();
    }
  }

  bool done() const { return !failed_ && reader_.ok() && reader_.at_end(); }
  bool ok() const { return !failed_ && reader_.ok(); }

 private:
  void fail() { failed_ = true; }

  NumberReader reader_;
  std::vector<uint64_t> keys_, times_;
  bool failed_ = false;
};

}  // namespace

void DtlStatistics::append_to(DtlAnalysis& analysis, int cpu, DtlPlaces& places) const {
  analysis.append(analysis_, places);
  for (const auto& [move, times] : moves_) {
    places.move(static_cast<uint16_t>(move >> 16), static_cast<uint16_t>(move), times);
  }
  add_to(places.processors, processors_, static_cast<uint64_t>(cpu) << 16);
  add_to(places.fault_pages, fault_pages_);
  add_to(places.instructions, instructions_);
}

void DtlStatistics::pack(std::vector<std::byte>& to) const {
  const DtlAnalysis& of = analysis_;
  const StolenIntervals& stolen = of.intervals_;
  for (const uint64_t word :
       {of.entries(), blocks_, ticks_per_second_, of.first_, of.last_,
        of.first_processor_ ? uint64_t{*of.first_processor_} : kNoProcessor,
        of.processor_ ? uint64_t{*of.processor_} : kNoProcessor, of.late_, of.moved_, stolen.count,
        stolen.first.begin, stolen.first.stolen, stolen.worst.begin, stolen.worst.stolen,
        stolen.last.begin, stolen.last.stolen}) {
    pack_word(word, to);
  }
  for (const TickHistogram* times :
       {&of.enqueue_to_dispatch_, &of.ready_to_enqueue_, &of.waiting_to_ready_}) {
    pack_word(times->sum(), to);
    pack_word(times->most(), to);
    put_counts(to, used(times->buckets()));
  }
  put_counts(to, used(of.reasons_.dispatch));
  put_counts(to, used(of.reasons_.preempt));
  for (const Counts* counts : {&moves_, &processors_, &fault_pages_, &instructions_}) {
    put_counts(to, *counts);
  }
}

bool DtlStatistics::unpack(std::span<const std::byte> packed) {
  analysis_ = {};
  DtlAnalysis& of = analysis_;
  StolenIntervals& stolen = of.intervals_;
  Reader reader(packed);
  const uint64_t entries = reader.word();
  blocks_ = reader.word();
  ticks_per_second_ = reader.word();
  of.first_ = reader.word();
  of.last_ = reader.word();
  for (auto* processor : {&of.first_processor_, &of.processor_}) {
    if (const uint64_t word = reader.word(); word < kNoProcessor) {
      *processor = static_cast<uint16_t>(word);
    }
  }
  for (uint64_t* number :
       {&of.late_, &of.moved_, &stolen.count, &stolen.first.begin, &stolen.first.stolen,
        &stolen.worst.begin, &stolen.worst.stolen, &stolen.last.begin, &stolen.last.stolen}) {
    *number = reader.word();
  }
  Counts counts;
  bool whole = true;
  for (TickHistogram* times :
       {&of.enqueue_to_dispatch_, &of.ready_to_enqueue_, &of.waiting_to_ready_}) {
    const uint64_t sum = reader.word();
    times->add_extent(sum, static_cast<uint32_t>(reader.word()));
    reader.counts(counts, TickHistogram::kBuckets - 1);
    if (!reader.ok()) return false;
    for (const auto& [bucket, number] : counts) times->add_bucket(bucket, number);
    whole = whole && times->count() == entries;
  }
  for (auto* reasons : {&of.reasons_.dispatch, &of.reasons_.preempt}) {
    reader.counts(counts, reasons->size() - 1);
    if (!reader.ok()) return false;
    for (const auto& [code, number] : counts) (*reasons)[code] += number;
  }
  reader.counts(moves_, UINT32_MAX);
  reader.counts(processors_, UINT16_MAX);
  reader.counts(fault_pages_, UINT64_MAX);
  reader.counts(instructions_, UINT64_MAX);
  return whole && reader.done();
}

void DtlGroup::add(const DtlColumns& block, const DtlTimes& times, uint64_t ticks_per_second) {
  if (statistics_.blocks_ == 0) statistics_.ticks_per_second_ = ticks_per_second;
  one_clock_ = one_clock_ && statistics_.ticks_per_second_ == ticks_per_second;
  statistics_.blocks_++;
  statistics_.lowest_timebase_ = std::min(statistics_.lowest_timebase_, times.lowest);
  statistics_.highest_timebase_ = std::max(statistics_.highest_timebase_, times.highest);
  // Statistics do not depend on the CPU, so 0 stands for any CPU.
  statistics_.analysis_.add(block, 0, ticks_per_second, places_);
}

bool DtlGroup::exact() const {
  return one_clock_ &&
         std::ranges::all_of(std::array{&places_.moves, &places_.processors, &places_.fault_pages,
                                        &places_.instructions},
                             [](const DtlPlaces::Table* table) { return table->error() == 0; });
}

const DtlStatistics& DtlGroup::statistics() {
  statistics_.moves_ = sorted(places_.moves);
  statistics_.processors_ = sorted(places_.processors);
  statistics_.fault_pages_ = sorted(places_.fault_pages);
  statistics_.instructions_ = sorted(places_.instructions);
  return statistics_;
}

void DtlGroup::clear() {
  statistics_ = {};
  one_clock_ = true;
  for (auto* table :
       {&places_.moves, &places_.processors, &places_.fault_pages, &places_.instructions}) {
    table->clear();
  }
}

}  // namespace htmtrace
