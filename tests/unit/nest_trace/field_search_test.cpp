// SPDX-License-Identifier: GPL-2.0-or-later
// Searches for an address in records of unknown layout. The search must find an address at any
// position, and nothing in records without addresses.
#include "core/nest_trace/field_search.h"

#include <doctest/doctest.h>

#include "core/memory_map/known.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace::nest {
namespace {

constexpr unsigned kAddressBits = 40;

Record random_command(generator::Random& random) {
  return {random.next() | uint64_t{1} << 63, random.next()};
}

// Writes address bits 12 to 39 so that 2^12 is in `last_bit`.
void put_address(Record& record, uint64_t address, unsigned last_bit) {
  for (unsigned bit = 12; bit < kAddressBits; bit++) {
    const unsigned at = last_bit - (bit - 12);
    uint64_t& word = at < 64 ? record.high : record.low;
    const uint64_t mask = uint64_t{1} << (63 - at % 64);
    word = (address >> bit & 1) != 0 ? word | mask : word & ~mask;
  }
}

// Returns memory blocks of 256 MiB, spread over 2^40 bytes as in a partition.
std::vector<TranslationMap::Range> blocks(generator::Random& random, unsigned count) {
  std::vector<TranslationMap::Range> ranges;
  for (uint64_t at = 0; at < count; at++) {
    const uint64_t slot = at * (4096 / count) + random.below(4096 / count);
    ranges.push_back({.real = slot << 28, .size_bytes = 1 << 28, .logical = at << 28});
  }
  ranges.back() = {.real = uint64_t{4095} << 28, .size_bytes = 1 << 28, .logical = 0};
  return ranges;
}

}  // namespace

TEST_CASE("the memory of all partitions in a file is found") {
  const std::vector<TranslationMap::Range> memory = known_memory(generator::translation_file());
  // The blocks of the three partitions are adjacent.
  REQUIRE(memory.size() == 1);
  CHECK(memory[0].real == 0x0000200000000000);
  CHECK(memory[0].size_bytes == uint64_t{3} * generator::kOwnBlocks * generator::kBlockBytes);
  CHECK(known_memory({}).empty());
}

TEST_CASE("an address is found at any position in the record") {
  for (const unsigned last_bit : {28U, 42U, 63U, 64U, 90U, 127U}) {
    generator::Random random(last_bit);
    const auto ranges = blocks(random, 64);
    FieldSearch search(ranges);
    for (unsigned i = 0; i < 6000; i++) {
      Record record = random_command(random);
      const auto& range = ranges[random.below(ranges.size())];
      // 1 in 20 addresses belongs to another partition.
      const uint64_t address =
          random.chance(50) ? random.below(uint64_t{1} << 40) : range.real + random.below(1 << 28);
      put_address(record, address, last_bit);
      search.add(record, i % 2, i / 2000);
    }
    const FieldEvidence evidence = search.judge();
    CHECK(evidence.believed());
    CHECK(evidence.field.last_bit == last_bit);
    CHECK(evidence.field.bits == kAddressBits - 12);
    CHECK(evidence.hits >= 5600);
    CHECK(evidence.chance == doctest::Approx(64.0 / 4096));
    CHECK(describe(evidence).find("INFERRED, not known") != std::string::npos);
    Record record;
    put_address(record, 0x1234567000, last_bit);
    CHECK(evidence.field.page_address(record) == 0x1234567000);
  }
}

TEST_CASE("noise, a constant, and a trace that has addresses only in part are rejected") {
  generator::Random random(1);
  const auto ranges = blocks(random, 64);
  FieldSearch noise(ranges), constant(ranges), half(ranges), few(ranges), nothing(ranges);
  for (unsigned i = 0; i < 3000; i++) {
    Record record = random_command(random);
    noise.add(record, i % 2, i / 1000);
    put_address(record, ranges[5].real, 60);
    constant.add(record, i % 2, i / 1000);
    put_address(record, ranges[random.below(64)].real + random.below(1 << 28), 60);
    if (i < 500) few.add(record, 0, 0);
    // The last third of one engine has no addresses.
    half.add(i % 2 == 1 && i >= 2000 ? random_command(random) : record, i % 2, i / 1000);
  }
  CHECK_FALSE(noise.judge().believed());
  CHECK(constant.judge().hits == 3000);
  CHECK_FALSE(constant.judge().believed());
  CHECK(half.judge().hits >= 2400);
  CHECK_FALSE(half.judge().stable());
  CHECK_FALSE(half.judge().believed());
  CHECK_FALSE(few.judge().believed());
  CHECK(nothing.judge().hits == 0);
  CHECK(describe(nothing.judge()).find("no bits") != std::string::npos);
  CHECK(describe(noise.judge()).find("too weak") != std::string::npos);
  FieldSearch without({});
  without.add(random_command(random), 0, 0);
  CHECK_FALSE(without.judge().believed());
}

TEST_CASE("contiguous memory from address 0 does not show where a field begins") {
  generator::Random random(2);
  FieldSearch search({{.real = 0, .size_bytes = uint64_t{1} << 34, .logical = 0}});
  for (unsigned i = 0; i < 3000; i++) {
    Record record = random_command(random);
    put_address(record, random.below(uint64_t{1} << 34), 70);
    search.add(record, i % 2, i / 1000);
  }
  CHECK_FALSE(search.judge().believed());
}

}  // namespace htmtrace::nest
