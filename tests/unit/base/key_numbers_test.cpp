// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/key_numbers.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>
#include <utility>

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
}

TEST_CASE("key numbers find keys with few probes, whatever the pattern of the keys") {
  constexpr uint32_t kKeys = 20'000;
  // Linear probing of a table that is three quarters full needs 2.5 probes on average.
  constexpr uint64_t kMostProbesPerKey = 5;
  const std::pair<const char*, uint64_t (*)(uint64_t)> patterns[] = {
      {"equal in the upper half after multiplication", key_spread_to},
      {"addresses of instructions", [](uint64_t i) { return 4 * i; }},
      {"starts of pages", [](uint64_t i) { return i << 16; }},
      {"upper bits", [](uint64_t i) { return i << 44; }},
      {"both halves", [](uint64_t i) { return i << 32 | i; }}};
  for (const auto& [pattern, key_of] : patterns) {
    CAPTURE(std::string(pattern));
    KeyNumbers numbers;
    for (uint32_t i = 0; i < kKeys; i++) REQUIRE(numbers.add(key_of(i), i) == i);
    uint64_t probes = 0;
    for (uint32_t i = 0; i < kKeys; i++) probes += numbers.probes(key_of(i));
    CHECK(probes <= kMostProbesPerKey * kKeys);
  }
}

TEST_CASE("key numbers give the same numbers for each seed") {
  KeyNumbers one(1), other(2);
  uint64_t differences = 0;
  for (uint32_t i = 0; i < 5000; i++) {
    const uint64_t key = 4 * (i * i % 3001);
    REQUIRE(one.add(key, i) == other.add(key, i));
    differences += one.probes(key) != other.probes(key) ? 1 : 0;
  }
  CHECK(one.size() == other.size());
  CHECK(differences != 0);  // the seed decides the slot
}

}  // namespace
}  // namespace htmtrace
