// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/branch_recoding.h"

#include <doctest/doctest.h>

#include <bit>

#include "tests/encoder/power10.h"
#include "tests/encoder/power8.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace {
namespace {

// Encodes and restores in both formats. The result is false if the encoder refuses.
void comes_back(uint32_t instruction, uint64_t address, unsigned& power8, unsigned& power10) {
  uint32_t stored = 0;
  if (power8_recode_branch(instruction, address, &stored)) {
    REQUIRE(restore_power8_branch(stored, EffectiveAddr{address}) == instruction);
    power8++;
  }
  if (power10_recode_branch(instruction, address, &stored)) {
    REQUIRE(restore_power10_branch(stored, EffectiveAddr{address}) == instruction);
    power10++;
  }
}

}  // namespace

TEST_CASE("random branches survive the round trip through both stored forms") {
  generator::Random random(1);
  unsigned power8 = 0;
  unsigned power10 = 0;
  for (int i = 0; i < 200000; i++) {
    const uint64_t address = random.next() & ~uint64_t{3};
    comes_back(generator::random_branch(random, address), address, power8, power10);
  }
  CHECK(power8 > 150000);
  CHECK(power10 > 150000);
}

TEST_CASE("branches across the borders of regions, and at the borders, survive the round trip") {
  unsigned power8 = 0;
  unsigned power10 = 0;
  for (const unsigned shift : {16U, 26U}) {
    for (const uint64_t border :
         {uint64_t{1} << shift, uint64_t{0xc000000000000000}, uint64_t{0}}) {
      for (int from = -8; from <= 8; from += 4) {
        for (int to = -32; to <= 32; to += 4) {
          const uint64_t address = border + static_cast<uint64_t>(from);
          const auto offset = static_cast<uint32_t>(to - from);
          comes_back(0x48000000 | (offset & 0x03fffffc), address, power8, power10);
          comes_back(0x41820000 | (offset & 0xfffc), address, power8, power10);
        }
      }
    }
  }
  CHECK(power8 == 2 * 3 * 5 * 17 * 2);
  CHECK(power10 == power8);
}

TEST_CASE("each field of a conditional branch has its own position") {
  unsigned power8 = 0;
  unsigned power10 = 0;
  for (uint32_t bo = 0; bo < 32; bo++) {
    for (uint32_t bi = 0; bi < 32; bi++) {
      for (const uint32_t rest : {0x0000U, 0x8000U, 0x7ffcU, 0x0001U, 0x0002U, 0x8003U}) {
        comes_back(0x40000000 | bo << 21 | bi << 16 | rest, 0x10008, power8, power10);
      }
      for (uint32_t bh = 0; bh < 4; bh++) {
        comes_back(0x4c000020 | bo << 21 | bi << 16 | bh << 11, 0x10008, power8, power10);
        comes_back(0x4c000421 | bo << 21 | bi << 16 | bh << 11, 0x10008, power8, power10);
        comes_back(0x4c000460 | bo << 21 | bi << 16 | bh << 11, 0x10008, power8, power10);
      }
    }
  }
  CHECK(power8 == 32 * 32 * 18);
  CHECK(power10 > power8 / 2);  // the POWER10 form has no room for some hints
}

TEST_CASE("without an address only a displacement is unknown") {
  uint32_t stored = 0;
  REQUIRE(power10_recode_branch(0x48000010, 0x1000, &stored));
  CHECK_FALSE(restore_power10_branch(stored, std::nullopt));
  REQUIRE(power10_recode_branch(0x48000102, 0x1000, &stored));
  CHECK(restore_power10_branch(stored, std::nullopt) == 0x48000102);
  REQUIRE(power10_recode_branch(0x4e800020, 0x1000, &stored));
  CHECK(restore_power10_branch(stored, std::nullopt) == 0x4e800020);
  REQUIRE(power8_recode_branch(0x41820010, 0x1000, &stored));
  CHECK_FALSE(restore_power8_branch(stored, std::nullopt));
  REQUIRE(power8_recode_branch(0x4e800420, 0x1000, &stored));
  CHECK(restore_power8_branch(stored, std::nullopt) == 0x4e800420);
}

TEST_CASE("isel is stored unchanged, and serializing operations lose only the form bits") {
  const EffectiveAddr address{0x1000};
  CHECK(restore_power8_branch(0x7c64281e, address) == 0x7c64281e);
  CHECK(restore_power10_branch(0x7c64281e, address) == 0x7c64281e);
  CHECK(restore_power10_branch(0x44180002, address) == 0x44000002);  // sc
  CHECK(restore_power10_branch(0x4c180024, address) == 0x4c000024);  // rfid
  CHECK(restore_power10_branch(0x7c780164, address) == 0x7c600164);  // mtmsrd
  CHECK_FALSE(
      restore_power10_branch(0x4c18012c, address));  // isync: not known to be stored in this form
}

}  // namespace htmtrace
