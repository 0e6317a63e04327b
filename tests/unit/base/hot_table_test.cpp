// SPDX-License-Identifier: GPL-2.0-or-later
// Compares counting in constant memory with exact counts.
#include "core/base/hot_table.h"

#include <doctest/doctest.h>

#include <map>

#include "core/base/counts.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace {
namespace {

struct Counter {
  uint64_t count = 0;
};

}  // namespace

TEST_CASE("a hot table is exact while there is room") {
  generator::Random random(1);
  HotTable<Counter> table(1000);
  std::map<uint64_t, uint64_t> exact;
  for (int i = 0; i < 100000; i++) {
    const uint64_t key = random.below(30) * random.below(30) << 12;
    table.at(key).count++;
    exact[key]++;
  }
  CHECK(table.error() == 0);
  CHECK(table.size() == exact.size());
  uint64_t before = ~uint64_t{0};
  for (const auto& [key, entry] : table.top(exact.size())) {
    CHECK(entry.count == exact[key]);
    CHECK(entry.count <= before);
    before = entry.count;
  }
  CHECK(table.top(5).size() == 5);
}

TEST_CASE("without room, counts are low by at most the error, and hot keys stay") {
  generator::Random random(2);
  HotTable<Counter> table(64);
  std::map<uint64_t, uint64_t> exact;
  for (int i = 0; i < 200000; i++) {
    // Five hot keys among many keys that occur a few times.
    const uint64_t key = random.chance(400) ? random.below(5) : random.below(20000);
    table.at(key).count++;
    exact[key]++;
  }
  CHECK(table.error() > 0);
  CHECK(table.size() <= 64);
  const auto top = table.top(5);
  REQUIRE(top.size() == 5);
  for (const auto& [key, entry] : top) {
    CHECK(key < 5);
    CHECK(entry.count <= exact[key]);
    CHECK(entry.count + table.error() >= exact[key]);
  }
}

TEST_CASE("a remembered place of a hot table is only a hint") {
  HotTable<Counter> table(64);
  const size_t place = table.place_of(5 << 12);
  table.at(5 << 12, place).count++;
  for (uint64_t key = 100; key < 150; key++) table.at(key << 12).count++;  // moves the rows
  table.at(5 << 12, place).count++;
  table.at(6 << 12, place).count++;
  CHECK(table.at(5 << 12).count == 2);
  CHECK(table.at(6 << 12).count == 1);
  CHECK(table.size() == 52);
}

TEST_CASE("a short list has the exact count of every value while there is room") {
  generator::Random random(3);
  for (const size_t places : {size_t{0}, size_t{4}, size_t{64}, size_t{4096}}) {
    Counts::Room room{places};
    Counts counts;
    std::map<uint64_t, uint64_t> exact;
    uint64_t all = 0;
    for (int i = 0; i < 20000; i++) {
      const uint64_t value = random.below(30) * random.below(30);
      counts.add(value, room);
      exact[value]++;
      all++;
    }
    uint64_t listed = 0;
    for (const auto& [value, count] : counts.sorted()) {
      CHECK(count == exact.at(value));
      listed += count;
    }
    CHECK(listed + counts.others() == all);
    CHECK(counts.places() + room.places == places);
    if (places == 4096) {
      CHECK(counts.sorted().size() == exact.size());
      CHECK(counts.others() == 0);
    }
  }
}

TEST_CASE("without room only the first values are listed, and the others are summed") {
  Counts::Room none{0};
  Counts counts;
  CHECK(counts.sorted().empty());
  for (const uint64_t value : {7, 8, 9, 10, 11, 10, 7}) counts.add(value, none);
  CHECK(counts.others() == 3);
  REQUIRE(counts.sorted().size() == 3);
  CHECK(counts.sorted().front().value == 7);
  CHECK(counts.sorted().front().count == 2);
}

}  // namespace htmtrace
