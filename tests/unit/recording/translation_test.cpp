// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/memory_map/translation.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/generator/generated_trace.h"

namespace htmtrace {
namespace {

constexpr uint64_t kNone = ~uint64_t{0};

struct Entry {
  uint64_t real;
  uint64_t logical;
  uint32_t partition;
  uint64_t size_bytes;
};

void add_block(std::vector<uint64_t>& words, const std::vector<Entry>& entries,
               uint64_t announced) {
  words.insert(words.end(), {0x1234, 1, announced, 0x5678});
  for (const Entry& entry : entries) {
    words.insert(words.end(), {entry.real, entry.logical,
                               uint64_t{entry.partition} << 32 | 0x01020000, entry.size_bytes});
  }
}

std::vector<std::byte> file_of(const std::vector<std::vector<Entry>>& blocks) {
  std::vector<uint64_t> words;
  for (const std::vector<Entry>& block : blocks) add_block(words, block, block.size());
  return generator::bytes_of(words);
}

std::optional<uint64_t> logical(const TranslationMap& map, uint64_t real) {
  TranslationMap::Cursor cursor(map);
  const auto found = cursor.translate(RealAddr{real});
  return found ? std::optional(found->value) : std::nullopt;
}

}  // namespace

TEST_CASE("several blocks, out of order, of several partitions, are read") {
  const auto file = file_of({{{0x30000, 0x10000, 5, 0x1000}, {0x20000, 0, 5, 0x1000}},
                             {{0x8000000000040000, 0x50000, 5, 0x2000}, {0x20000, 0x7000, 6, 16}}});
  const TranslationMap map(file, 5);
  CHECK(logical(map, 0x20000) == 0);  // logical 0 is an ordinary address
  CHECK(logical(map, 0x20fff) == 0xfff);
  CHECK_FALSE(logical(map, 0x21000));
  CHECK_FALSE(logical(map, 0x1ffff));
  CHECK(logical(map, 0x30800) == 0x10800);
  CHECK(logical(map, 0x41fff) == 0x51fff);  // the top bit of the real address is dropped
  CHECK(map.report().blocks == 2);
  CHECK(map.report().entries == 4);
  CHECK(map.report().own_entries == 3);
  CHECK(map.report().partitions == std::vector<uint32_t>{5, 6});
  CHECK(map.report().mapped_bytes == 0x4000);
  CHECK_FALSE(map.report().damaged());
  CHECK(logical(TranslationMap(file, 6), 0x20000) == 0x7000);
  CHECK(TranslationMap(file, 7).report().own_entries == 0);
}

TEST_CASE("without a partition id, only a map of one partition is used") {
  const auto one = file_of({{{0x1000, 0, 9, 0x1000}}});
  CHECK(logical(TranslationMap(one, std::nullopt), 0x1000) == 0);
  const auto two = file_of({{{0x1000, 0, 9, 0x1000}, {0x2000, 0, 8, 0x1000}}});
  CHECK_FALSE(logical(TranslationMap(two, std::nullopt), 0x1000));
}

TEST_CASE("holes, duplicates and overlaps are resolved") {
  const auto file = file_of({{{0x1000, kNone, 0, 0x1000},
                              {0x2000, 0x2000, 0, 0x1000},
                              {0x2000, 0x2000, 0, 0x1000},
                              {0x2800, 0x9000, 0, 0x1000},
                              {0x2900, 0xa000, 0, 0x10},
                              {0x5000, 0x1000, 0, 0},
                              {0x7fffffffffffff00, 0x1000, 0, kNone}}});
  const TranslationMap map(file, 0);
  CHECK_FALSE(logical(map, 0x1000));
  CHECK(logical(map, 0x2fff) == 0x2fff);  // the range that starts first is valid
  CHECK(logical(map, 0x3000) == 0x9800);
  CHECK(logical(map, 0x37ff) == 0x9fff);
  CHECK_FALSE(logical(map, 0x3800));
  CHECK_FALSE(logical(map, 0x5000));
  CHECK(map.report().unmapped == 1);
  CHECK(map.report().duplicates == 1);
  CHECK(map.report().overlaps == 2);
  CHECK(map.report().malformed == 2);
  CHECK(map.report().damaged());
}

TEST_CASE("adjacent ranges with continuous addresses become one range") {
  const TranslationMap map(file_of({{{0x2000, 0x8000, 0, 0x1000}, {0x1000, 0x7000, 0, 0x1000}}}),
                           0);
  CHECK(map.ranges().size() == 1);
  CHECK(map.report().duplicates == 0);
  CHECK(logical(map, 0x2fff) == 0x8fff);
}

TEST_CASE("truncated blocks, wrong counts and stray bytes are reported") {
  std::vector<uint64_t> words;
  add_block(words, {{0x1000, 0, 0, 0x1000}}, ~uint64_t{0});
  const TranslationMap lying(generator::bytes_of(words), 0);
  CHECK(lying.report().truncated_blocks == 1);
  CHECK(logical(lying, 0x1000) == 0);

  std::vector<std::byte> file = file_of({{{0x1000, 0, 0, 0x1000}, {0x2000, 0x1000, 0, 0x1000}}});
  file.resize(file.size() - 1);
  const TranslationMap cut(file, 0);
  CHECK(cut.report().truncated_blocks == 1);
  CHECK(cut.report().trailing_bytes == 31);
  CHECK(cut.report().entries == 1);

  CHECK(TranslationMap(std::vector<std::byte>(31), 0).report().trailing_bytes == 31);
  CHECK(TranslationMap(std::vector<std::byte>(96), 0).report().blocks == 3);
  CHECK_FALSE(TranslationMap({}, 0).report().damaged());
}

TEST_CASE("the generated machine's whole memory is translated") {
  const TranslationMap map(generator::translation_file(), 0);
  TranslationMap::Cursor cursor(map);
  generator::Random random(1);
  for (int i = 0; i < 100000; i++) {
    const uint64_t address = random.below(generator::kOwnBlocks * generator::kBlockBytes);
    const auto found = cursor.translate(RealAddr{generator::real_of_logical(address)});
    REQUIRE(found);
    REQUIRE(found->value == address);
  }
}

TEST_CASE("a cursor finds the same range as a search of the map") {
  const TranslationMap map(generator::translation_file(), 0);
  const TranslationMap no_map;
  TranslationMap::Cursor cursor(map), no_cursor(no_map);
  generator::Random random(2);
  unsigned found = 0, not_found = 0;
  for (int i = 0; i < 100000; i++) {
    // An address in a block, near its ends, in the next block of memory, or anywhere.
    const uint64_t block =
        generator::real_of_logical(random.below(generator::kOwnBlocks) * generator::kBlockBytes);
    const uint64_t address = random.chance(20)    ? random.next()
                             : random.chance(300) ? block + random.below(3) - 1
                             : random.chance(300)
                                 ? block + generator::kBlockBytes + random.below(3) - 1
                                 : block + random.below(2 * generator::kBlockBytes);
    const TranslationMap::Range* const expected = map.find({address});
    const TranslationMap::Range* const range = cursor.find({address});
    REQUIRE((range != nullptr) == (expected != nullptr));
    if (range != nullptr) REQUIRE(range->translate({address}) == expected->translate({address}));
    (range != nullptr ? found : not_found)++;
    REQUIRE(no_cursor.find({address}) == nullptr);
  }
  CHECK(found > 10000);
  CHECK(not_found > 10000);
  CHECK(cursor.find({~uint64_t{0}}) == nullptr);
}

}  // namespace htmtrace
