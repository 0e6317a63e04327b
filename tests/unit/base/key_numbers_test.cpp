// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/key_numbers.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/base/hot_table.h"
#include "core/base/spread.h"

namespace htmtrace {
namespace {

// Returns a key that spread() turns into `hash`.
uint64_t key_spread_to(uint64_t hash) {
  // Newton's method: each step doubles the number of correct bits of 1 / factor modulo 2^64.
  const uint64_t factor = spread(1);
  uint64_t inverse = factor;
  for (int i = 0; i < 6; i++) inverse *= 2 - factor * inverse;
  return hash * inverse;
}

TEST_CASE("key numbers agree with a map while the table grows") {
  KeyNumbers numbers;
  std::map<uint64_t, uint32_t> expected;
  std::mt19937_64 random(7);
  for (uint32_t i = 0; i < 20000; i++) {
    // Neighboring addresses, and keys that differ only in their upper bits.
    const uint64_t key = i % 2 == 0 ? random() % 4096 * 4 : random() % 4096 << 44;
    const auto place = expected.try_emplace(key, i).first;
    REQUIRE(numbers.add(key, i) == place->second);
  }
  CHECK(numbers.size() == expected.size());
  for (const auto& [key, number] : expected) REQUIRE(numbers.find(key) == number);
  CHECK(numbers.find(1) == KeyNumbers::kNone);
  numbers.clear();
  CHECK(numbers.size() == 0);
  for (const auto& [key, number] : expected) REQUIRE(numbers.find(key) == KeyNumbers::kNone);
  CHECK(numbers.add(4, 9) == 9);
}

struct Row {
  uint64_t count = 0;
};

using KeyOf = uint64_t (*)(uint64_t);

struct Pattern {
  const char* name;
  KeyOf key_of;  // the key with a number
};

const Pattern kPatterns[] = {{"equal in the upper half after multiplication", key_spread_to},
                             {"equal in the lower half after multiplication",
                              [](uint64_t i) { return key_spread_to(i << 32); }},
                             {"addresses of instructions", [](uint64_t i) { return 4 * i; }},
                             {"starts of pages", [](uint64_t i) { return i << 16; }},
                             {"middle bits", [](uint64_t i) { return i << 30; }},
                             {"higher bits", [](uint64_t i) { return i << 36; }},
                             {"upper bits", [](uint64_t i) { return i << 44; }},
                             {"both halves", [](uint64_t i) { return i << 32 | i; }}};
constexpr uint32_t kKeys = 20'000;
// Linear probing of a table that is three quarters full needs 2.5 probes on average.
constexpr uint64_t kMostProbesPerKey = 5;

TEST_CASE("tables find keys with few probes, whatever the pattern of the keys") {
  for (const Pattern& pattern : kPatterns) {
    const KeyOf key_of = pattern.key_of;
    CAPTURE(std::string(pattern.name));
    KeyNumbers numbers;
    HotTable<Row> table(kKeys);
    for (uint32_t i = 0; i < kKeys; i++) {
      REQUIRE(numbers.add(key_of(i), i) == i);
      table.at(key_of(i)).count++;
    }
    uint64_t of_numbers = 0, of_table = 0;
    for (uint32_t i = 0; i < kKeys; i++) {
      of_numbers += numbers.probes(key_of(i));
      of_table += table.probes(key_of(i));
    }
    CHECK(of_numbers <= kMostProbesPerKey * kKeys);
    CHECK(of_table <= kMostProbesPerKey * kKeys);
  }
}

// The probes that linear probing needs to insert these keys, for 3/4 of the places.
uint64_t probes_of(KeyOf key_of, const HashSecret& secret) {
  constexpr size_t kPlaces = 32'768;
  constexpr uint64_t kSome = kPlaces / 4 * 3;
  std::vector<bool> used(kPlaces);
  uint64_t probes = 0;
  for (uint64_t i = 0; i < kSome; i++) {
    size_t place = secret_place(key_of(i), kPlaces, secret);
    for (probes++; used[place]; probes++) place = (place + 1) % kPlaces;
    used[place] = true;
  }
  return probes * kKeys / kSome;
}

TEST_CASE("random secrets give few probes for each pattern of keys") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 30; round++) {
    const HashSecret secret{.mask = random(), .factor = random() | 1};
    for (const Pattern& pattern : kPatterns) {
      CAPTURE(std::string(pattern.name));
      CHECK(probes_of(pattern.key_of, secret) <= kMostProbesPerKey * kKeys);
    }
  }
}

TEST_CASE("a place is below the number of places") {
  for (unsigned bits = 0; bits < 40; bits++) {
    const size_t places = size_t{1} << bits;
    for (const uint64_t key : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      CHECK(secret_place(key, places) < places);
    }
  }
}

}  // namespace
}  // namespace htmtrace
