// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/key_numbers.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

namespace htmtrace {
namespace {

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

}  // namespace
}  // namespace htmtrace
