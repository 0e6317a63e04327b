// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/power8_translation.h"

#include <doctest/doctest.h>

#include "tests/generator/generated_trace.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

std::optional<uint64_t> real(Power8Translation& translation, uint64_t address) {
  const auto found = translation.translate(EffectiveAddr{address});
  return found ? std::optional(found->value) : std::nullopt;
}

}  // namespace

TEST_CASE("pages of each size are cached with their own offsets") {
  Power8Translation translation;
  translation.learn(EffectiveAddr{0x1234}, 0xa0000, 12);
  translation.learn(EffectiveAddr{0x7fff00012344}, 0x5550000, 16);
  translation.learn(EffectiveAddr{0xc000000001234560}, 0x77000000, 24);
  CHECK(real(translation, 0x1ffc) == 0xa0ffc);
  CHECK_FALSE(real(translation, 0x2000));
  CHECK(real(translation, 0x7fff0001fffc) == 0x555fffc);
  CHECK(real(translation, 0xc000000001fffffc) == 0x77fffffc);
}

TEST_CASE("the latest translation of an address is valid") {
  Power8Translation translation;
  translation.learn(EffectiveAddr{0x1234}, 0xa0000, 12);
  translation.learn(EffectiveAddr{0x1238}, 0xb0000, 12);
  CHECK(real(translation, 0x1000) == 0xb0000);
  // A page of another size replaces the entry, and also covers other entries in its range.
  translation.learn(EffectiveAddr{0x5000}, 0xc0000, 12);
  translation.learn(EffectiveAddr{0x1000}, 0x40000, 16);
  CHECK(real(translation, 0x1000) == 0x41000);
  CHECK(real(translation, 0x5000) == 0x45000);
  translation.learn(EffectiveAddr{0x5000}, 0xd0000, 12);
  CHECK(real(translation, 0x5004) == 0xd0004);
  CHECK_FALSE(real(translation, 0x1000));
}

TEST_CASE("replaying the changes of one cache gives an equal cache") {
  generator::Random random(1);
  constexpr unsigned kShifts[] = {12, 16, 24};
  // Few sets of each size, so that many sets are full.
  const auto some_address = [&random] {
    return EffectiveAddr{random.below(10) << 24 | random.below(4) << 16 | random.below(4) << 12};
  };
  Power8Translation source;
  std::vector<Power8Page> told;
  for (unsigned round = 0; round < rounds(60); round++) {
    for (uint64_t i = random.below(40); i != 0; i--) {
      source.learn(some_address(), random.below(1 << 20) << 12, kShifts[random.below(3)]);
    }
    source.tell_changes(told);
    Power8Translation copy;
    copy.restore(told);
    std::vector<Power8Page> nothing_new;
    source.tell_changes(nothing_new);
    REQUIRE(nothing_new.empty());
    for (int i = 0; i < 200; i++) {
      const EffectiveAddr address = some_address();
      const auto here = source.translate(address);
      REQUIRE(here.has_value() == copy.translate(address).has_value());
      if (here) REQUIRE(here->value == copy.translate(address)->value);
      if (i % 4 != 0) continue;
      // After this, both caches must drop the same entries.
      const uint64_t page = random.below(1 << 20) << 12;
      const unsigned shift = kShifts[random.below(3)];
      source.learn(address, page, shift);
      copy.learn(address, page, shift);
    }
  }
  CHECK(source.evictions() != 0);
  const size_t before = told.size();
  source.tell_changes(told);
  CHECK(told.size() > before);
  source.learn(EffectiveAddr{0x7000}, 0x1000, 12);
  source.tell_changes(told);
  const size_t known = told.size();
  source.learn(EffectiveAddr{0x7004}, 0x1000, 12);  // the same translation again
  source.tell_changes(told);
  CHECK(told.size() == known);
}

TEST_CASE("untrusted pages are restored as far as they are valid") {
  Power8Translation translation;
  const std::vector<Power8Page> pages = {{0x1000 | 1, 0xa0000},       // the first page of its set
                                         {0x1001000, 0xb0000},        // another page of this set
                                         {0x5000 | 3 << 2, 0xc0000},  // invalid size
                                         {0x7000 | 1, 1}};            // invalid entry
  translation.restore(pages);
  CHECK(real(translation, 0x1004) == 0xa0004);
  CHECK(real(translation, 0x1001004) == 0xb0004);
  CHECK_FALSE(real(translation, 0x5000));
  CHECK_FALSE(real(translation, 0x7000));
  translation.restore(std::vector<Power8Page>{{0x1000 | 1, 1}});
  CHECK_FALSE(real(translation, 0x1004));
  CHECK_FALSE(real(translation, 0x1001004));
}

TEST_CASE("the cache is bounded, and counts the entries that it drops") {
  Power8Translation translation;
  for (uint64_t page = 0; page < 16384; page++) {
    translation.learn(EffectiveAddr{page << 12}, page << 12, 12);
  }
  CHECK(translation.evictions() == 0);
  for (uint64_t page = 0; page < 16384; page++)
    REQUIRE(real(translation, page << 12) == page << 12);
  translation.learn(EffectiveAddr{uint64_t{16384} << 12}, 0, 12);
  CHECK(translation.evictions() == 1);
  CHECK_FALSE(real(translation, 0));
}

}  // namespace htmtrace
