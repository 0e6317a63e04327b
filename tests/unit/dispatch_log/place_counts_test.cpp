// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the analysis of whole blocks, which counts keys before it adds them to tables, with the
// analysis of single entries.
#include "core/dispatch_log/place_counts.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

#include "core/base/packed_forms.h"
#include "core/dispatch_log/analysis.h"

using namespace htmtrace;

namespace {

constexpr uint64_t kBlockTicks = 512'000'000;

struct BlockVariety {
  unsigned processors, instructions, pages;
};

std::vector<DtlEntry> varied_entries(size_t count, const BlockVariety& variety,
                                     std::mt19937_64& random) {
  std::vector<DtlEntry> entries(count);
  uint64_t timebase = 1000;
  for (DtlEntry& entry : entries) {
    entry.dispatch_reason = static_cast<uint8_t>(random() % 11);
    entry.preempt_reason = static_cast<uint8_t>(random() % 10);
    entry.processor_id =
        static_cast<uint16_t>(random() % 8 == 0 ? random() % variety.processors : 7);
    entry.enqueue_to_dispatch = static_cast<uint32_t>(random()) >> random() % 32;
    entry.ready_to_enqueue = static_cast<uint32_t>(random() % 100);
    entry.waiting_to_ready = static_cast<uint32_t>(random()) >> random() % 32;
    entry.timebase = timebase += random() % 500'000;
    if (random() % 4 == 0) entry.fault_address = 4096 * (1 + random() % variety.pages) + 8;
    entry.srr0 = 0xc000000000000000 + random() % variety.instructions * 4;
  }
  return entries;
}

void check_same_rows(const DtlPlaces::Table& table, const DtlPlaces::Table& other) {
  REQUIRE(table.error() == other.error());
  const auto rows = table.top(table.size()), others = other.top(other.size());
  REQUIRE(rows.size() == others.size());
  for (size_t i = 0; i < rows.size(); i++) {
    REQUIRE(rows[i].key == others[i].key);
    REQUIRE(rows[i].entry.count == others[i].entry.count);
  }
}

}  // namespace

TEST_CASE("a block has the same analysis as its entries one by one") {
  std::mt19937_64 random(1);
  for (const BlockVariety& variety : {BlockVariety{64, 256, 5}, BlockVariety{60000, 2000, 900}}) {
    for (const size_t count : {size_t{1}, size_t{300}, size_t{511}, size_t{512}, size_t{513},
                               size_t{4096}, size_t{4097}, size_t{6000}}) {
      const auto entries = varied_entries(count, variety, random);
      DtlPlaces places(size_t{1} << 16), others(size_t{1} << 16);
      DtlAnalysis analysis, other;
      analysis.add(entries, 3, kBlockTicks, places);
      for (const DtlEntry& entry : entries) other.add(std::span(&entry, 1), 3, kBlockTicks, others);
      CHECK(analysis.entries() == count);
      CHECK(analysis.enqueue_to_dispatch() == other.enqueue_to_dispatch());
      CHECK(analysis.ready_to_enqueue() == other.ready_to_enqueue());
      CHECK(analysis.waiting_to_ready() == other.waiting_to_ready());
      CHECK(analysis.reasons().dispatch == other.reasons().dispatch);
      CHECK(analysis.reasons().preempt == other.reasons().preempt);
      CHECK(analysis.worst() == other.worst());
      CHECK(analysis.late() == other.late());
      CHECK(analysis.moved() == other.moved());
      CHECK(analysis.last_processor() == other.last_processor());
      check_same_rows(places.moves, others.moves);
      check_same_rows(places.processors, others.processors);
      check_same_rows(places.fault_pages, others.fault_pages);
      check_same_rows(places.instructions, others.instructions);
    }
  }
}

// More counts of the keys that a full table holds add no error.
TEST_CASE("a table becomes inexact only if a block has more keys than it can hold") {
  std::mt19937_64 random(2);
  const auto entries = varied_entries(4096, {1, 100, 100}, random);
  std::map<uint64_t, uint64_t> counts;
  for (const DtlEntry& entry : entries) counts[entry.srr0]++;
  REQUIRE(counts.size() == 100);
  for (const size_t room : {size_t{100}, size_t{99}}) {
    DtlPlaces places(room);
    DtlAnalysis analysis;
    for (int i = 0; i < 2; i++) analysis.add(entries, 3, kBlockTicks, places);
    CHECK((places.instructions.error() == 0) == (room == 100));
    for (const auto& [key, count] : counts) {
      if (!places.instructions.contains(key)) continue;
      const uint64_t found = places.instructions.at(key).count;
      CHECK(found <= 2 * count);
      CHECK(found + places.instructions.error() >= 2 * count);
    }
  }
}

TEST_CASE("the counts of numbers give the same form as the numbers") {
  std::mt19937_64 random(3);
  for (const size_t distinct : {size_t{2}, size_t{3}, size_t{64}, size_t{1000}}) {
    std::vector<uint64_t> numbers;
    std::vector<uint32_t> counts(distinct);
    const auto add = [&](uint64_t number) {
      numbers.push_back(number);
      counts[number]++;
    };
    for (size_t number = 0; number < distinct; number++) add(distinct - 1 - number);
    while (numbers.size() < 4096) add(random() % distinct >> random() % 10);
    const packed::NumbersForm form(numbers);
    const auto of_counts = packed::NumbersForm::of_counts(counts);
    CHECK(of_counts.size_bytes() == form.size_bytes());
    std::vector<std::byte> bytes, other;
    form.write(numbers, bytes);
    of_counts.write(numbers, other);
    CHECK(bytes == other);
    CHECK(bytes.size() == form.size_bytes());
  }
}
