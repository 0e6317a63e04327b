// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/power8_translation.h"

#include <doctest/doctest.h>

#include <memory>

namespace htmtrace {
namespace {

std::optional<uint64_t> real(Power8Translation& translation, uint64_t address) {
  const auto found = translation.translate(EffectiveAddr{address});
  return found ? std::optional(found->value) : std::nullopt;
}

}  // namespace

TEST_CASE("pages of each size are remembered, with their own offsets") {
  Power8Translation translation;
  translation.learn(EffectiveAddr{0x1234}, 0xa0000, 12);
  translation.learn(EffectiveAddr{0x7fff00012344}, 0x5550000, 16);
  translation.learn(EffectiveAddr{0xc000000001234560}, 0x77000000, 24);
  CHECK(real(translation, 0x1ffc) == 0xa0ffc);
  CHECK_FALSE(real(translation, 0x2000));
  CHECK(real(translation, 0x7fff0001fffc) == 0x555fffc);
  CHECK(real(translation, 0xc000000001fffffc) == 0x77fffffc);
}

TEST_CASE("the newest word about an address holds") {
  Power8Translation translation;
  translation.learn(EffectiveAddr{0x1234}, 0xa0000, 12);
  translation.learn(EffectiveAddr{0x1238}, 0xb0000, 12);
  CHECK(real(translation, 0x1000) == 0xb0000);
  // Another size for the same address replaces, and covers what else it holds.
  translation.learn(EffectiveAddr{0x5000}, 0xc0000, 12);
  translation.learn(EffectiveAddr{0x1000}, 0x40000, 16);
  CHECK(real(translation, 0x1000) == 0x41000);
  CHECK(real(translation, 0x5000) == 0x45000);
  translation.learn(EffectiveAddr{0x5000}, 0xd0000, 12);
  CHECK(real(translation, 0x5004) == 0xd0004);
  CHECK_FALSE(real(translation, 0x1000));
}

TEST_CASE("its size is bounded; what it forgets it counts") {
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
