// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the sums of parts with slow implementations and with whole traces.
#include "core/analysis/hot_part.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/hot_spots.h"
#include "core/base/hot_table.h"
#include "core/core_trace/decoder.h"
#include "core/memory_map/owners.h"
#include "core/memory_map/translation.h"
#include "output/report/hot_spots_report.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/analysis/hot_spots.h"
#include "tests/unit/rounds.h"
#include "tests/unit/without_rows.h"

namespace htmtrace {
namespace {

// Counts equal accesses of a part at once, as a reader of the documentation would.
struct PlainSpots {
  PlainSpots(size_t most, uint64_t unit)
      : unit_bytes(unit), room{most * HotSpots::Wishes::kListPlaces}, rows(most) {}

  void access(uint64_t address, uint64_t site, uint64_t count) {
    HotData& hot = rows.at(address & ~(unit_bytes - 1));
    if (rows.error() != error) {
      error = rows.error();
      room.places = most_places;
      rows.visit([&](uint64_t, const HotData& kept) { room.places -= kept.sites.places(); });
    }
    hot.count += count;
    hot.sites.add(site, count, room);
  }
  uint64_t unit_bytes;
  Counts::Room room;
  size_t most_places = room.places;
  uint64_t error = 0;
  HotTable<HotData> rows;
};

// Keys with their counts, in the order of their arrival.
template <class Key>
struct PlainCounts {
  void add(const Key& key) {
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& row) { return row.first == key; });
    if (found == counts.end()) {
      counts.push_back({key, 1});
    } else {
      found->second++;
    }
  }
  std::vector<std::pair<Key, uint64_t>> counts;
};

enum class Feeding : uint8_t { kRows, kOneByOne };

std::string report_of_trace(std::span<const std::byte> trace, const TranslationMap& map,
                            const MemoryOwners& owners, HotSpots::Wishes wishes, Feeding feeding) {
  const SymbolTable none;
  HotSpots spots(std::move(wishes), none);
  spots.begin_trace(owners);
  HotPart part = spots.new_part();
  const auto decode = [&](auto& sink) {
    CoreDecoder decoder(map, sink);
    if (spots.wants_walks()) decoder.follow_raw_walks();
    decoder.feed(trace);
    decoder.finish();
  };
  if (feeding == Feeding::kRows) {
    decode(part);
  } else {
    WithoutRows each(part);
    decode(each);
  }
  spots.take(part);
  spots.finish();
  return HotSpotsReport{.spots = spots, .totals = {}, .traces = 1, .top = 1 << 16}.to_json();
}

// Memory whose owner changes every few words.
MemoryOwners splintered_owners(generator::Random& random) {
  std::vector<MemoryOwners::Range> claims;
  for (uint32_t i = 0; i < 2000; i++) {
    const uint64_t block = generator::real_of_logical(generator::kBlockBytes * (i % 4));
    claims.push_back({.real = block + random.below(1 << 14) * 4,
                      .size_bytes = 4 + 4 * random.below(60),
                      .partition = i % 5});
  }
  return MemoryOwners(std::move(claims));
}

}  // namespace

TEST_CASE("rows and lists depend on the parts of the trace only") {
  generator::Random random(12);
  const SymbolTable none;
  for (const size_t entries : {size_t{16}, size_t{100}, size_t{1000}}) {
    HotSpots spots({.key = DataKey::kLogical, .units = {1024, 128}, .entries = entries}, none);
    HotPart part = spots.new_part();
    PlainSpots lines(entries, 128), pages(entries, 1024);
    HotTable<HotCode> code(entries);
    for (int parts = 0; parts < 60; parts++) {
      PlainCounts<std::pair<uint64_t, uint64_t>> accesses;
      PlainCounts<uint64_t> sites;
      for (uint64_t i = random.below(700); i > 0; i--) {
        const uint64_t la = random.below(50) * random.below(50) * 64;
        const uint64_t site = random.below(20) * random.below(20) * 128;
        part.instruction(accessing(site + random.below(32) * 4, kLd, la, la));
        accesses.add({la & ~uint64_t{127}, site});
        sites.add(site);
      }
      for (const auto& [what, count] : accesses.counts) {
        lines.access(what.first, what.second, count);
        pages.access(what.first, what.second, count);
      }
      for (const auto& [site, count] : sites.counts) code.at(site).count += count;
      spots.take(part);
    }
    spots.finish();
    const PlainSpots* const plain[] = {&pages, &lines};
    for (size_t unit = 0; unit < 2; unit++) {
      const HotTable<HotData>& table = spots.data().at(unit);
      CHECK(table.error() == plain[unit]->rows.error());
      const auto rows = table.top(entries), expected = plain[unit]->rows.top(entries);
      REQUIRE(rows.size() == expected.size());
      for (size_t i = 0; i < rows.size(); i++) {
        REQUIRE(rows[i].key == expected[i].key);
        REQUIRE(rows[i].entry.count == expected[i].entry.count);
        REQUIRE(rows[i].entry.sites.others() == expected[i].entry.sites.others());
        const auto found = rows[i].entry.sites.sorted(), known = expected[i].entry.sites.sorted();
        REQUIRE(found.size() == known.size());
        for (size_t k = 0; k < found.size(); k++) {
          REQUIRE(found[k].value == known[k].value);
          REQUIRE(found[k].count == known[k].count);
        }
      }
    }
    CHECK(spots.code().error() == code.error());
    const auto rows = spots.code().top(entries), expected = code.top(entries);
    REQUIRE(rows.size() == expected.size());
    for (size_t i = 0; i < rows.size(); i++) {
      REQUIRE(rows[i].key == expected[i].key);
      REQUIRE(rows[i].entry.count == expected[i].entry.count);
    }
  }
}

TEST_CASE("without overflow, the counts do not depend on the parts") {
  const std::vector<Instruction> instructions = random_instructions(30000);
  const SymbolTable symbols = kernel_symbols();
  const HotSpots::Wishes wishes{.key = DataKey::kEffective, .units = {128, 65536}};
  const auto report_of = [](HotSpots& spots) {
    spots.finish();
    return HotSpotsReport{.spots = spots, .totals = {}, .traces = 1, .top = 1 << 16}.to_json();
  };
  HotSpots whole(wishes, symbols);
  for (const Instruction& instruction : instructions) whole.instruction(instruction);
  const std::string expected = report_of(whole);
  for (const size_t most : {size_t{1}, size_t{77}, size_t{4096}}) {
    HotSpots spots(wishes, symbols);
    HotPart parts[] = {spots.new_part(), spots.new_part()};
    for (size_t i = 0; i < instructions.size(); i++) {
      HotPart& part = parts[i / most % 2];
      part.instruction(instructions[i]);
      if (i % most == most - 1) spots.take(part);
    }
    for (HotPart& part : parts) spots.take(part);
    CHECK(report_of(spots) == expected);
  }
}

TEST_CASE("the counts are the same with and without rows") {
  const TranslationMap own(generator::translation_file(), 0);
  const TranslationMap none;
  for (uint64_t seed = 1; seed <= rounds(16); seed++) {
    CAPTURE(seed);
    generator::Random random(seed);
    std::vector<uint64_t> words;
    generator::Power10Program program(seed, {});
    for (int i = 0; i < 3000; i++) {
      program.next(words, false);
      if (random.chance(2)) words.push_back(random.next());  // damage
      if (!random.chance(20)) continue;
      // Instructions of one line in splintered memory, and sometimes at nobody's address.
      const uint64_t ea = (random.chance(200) ? kNobodys : 0) | random.below(1 << 9) * 128;
      uint64_t line[kPower10IearaWords];
      power10_ieara(line, ea, generator::real_of_logical(ea & 0xffff));
      words.insert(words.end(), std::begin(line), std::end(line));
      for (uint64_t at = random.below(30); at < 32; at += 1 + random.below(3)) {
        const bool reads = random.chance(500);
        // The offset in an INFO has one more bit than a line needs, so it can address the 128
        // bytes after the line.
        const uint64_t next_line = random.chance(100) ? uint64_t{0x80} : 0;
        words.push_back(power10_info(kLd, ea + 4 * at, false, false,
                                     reads ? kPower10OnePair : kPower10NoOperand) |
                        next_line);
        words.push_back(power10_msr(random.chance(100) ? 0x9033 : 0x800000000000d033));
        if (!reads) continue;
        const uint64_t dea = random.below(1 << 16);
        words.push_back(dea);
        words.push_back(power10_dra(generator::real_of_logical(dea)));
      }
    }
    const std::vector<std::byte> trace = generator::bytes_of(words);
    const MemoryOwners splintered = splintered_owners(random);
    for (const MemoryOwners* owners : {&splintered, &own.owners()}) {
      for (const DataKey key : {DataKey::kLogical, DataKey::kReal, DataKey::kEffective}) {
        const HotSpots::Wishes wishes = {
            .key = key, .units = {128, 65536}, .walks = random.chance(500)};
        for (const TranslationMap* map : {&own, &none}) {
          CHECK(report_of_trace(trace, *map, *owners, wishes, Feeding::kRows) ==
                report_of_trace(trace, *map, *owners, wishes, Feeding::kOneByOne));
        }
      }
    }
  }
}

TEST_CASE("a part that is cleared instead of taken leaves no counts") {
  const SymbolTable none;
  HotSpots spots({.units = {128}}, none);
  HotPart part = spots.new_part();
  part.instruction(accessing(0x1000, kLd, 0x8000, 0x8000));
  part.clear();
  part.instruction(accessing(0x1004, kLd, 0x8000, 0x8000));
  spots.take(part);
  CHECK(spots.instructions() == 1);
  CHECK(spots.code().top(1).at(0).entry.count == 1);
  CHECK(spots.data().at(0).top(1).at(0).entry.count == 1);
}

TEST_CASE("a part completes walks from earlier parts and from unselected walks") {
  const SymbolTable none;
  const MemoryOwners owners;
  HotSpots spots({.units = {128}, .walks = true}, none);
  spots.begin_trace(owners);
  // A walk of the hypervisor's own program: the partition, the process, and the tree.
  Walk walk;
  walk.lpid = 1;
  walk.pid = 2;
  walk.use = WalkUse::kAccess;
  walk.modes = {.bits = Modes::kHv | Modes::kIr | Modes::kDr, .known = Modes::kAll};
  walk.has_address = true;
  walk.ea = {0x10000};
  walk.host_shift = 30;
  walk.partition = 0x1000;
  walk.has_partition = walk.partition_told = true;
  WalkLeg& process = walk.leg(WalkLegKind::kProcess);
  process = {.guest = 0x2000, .host = 0x3000, .told = 0xf, .has_guest = true, .has_host = true};
  WalkLeg& last = walk.leg(WalkLegKind::kFinal);
  last = {.host = 0x40000000, .told = 3, .has_host = true};
  Walk short_walk = walk;
  short_walk.partition_told = short_walk.has_partition = false;
  short_walk.leg(WalkLegKind::kProcess) = {};
  HotPart first = spots.new_part(), second = spots.new_part();
  first.unselected(walk);
  second.walk(short_walk);
  SUBCASE("in order") {
    spots.take(first);
    spots.take(second);
    CHECK(spots.walks()[0].accesses == 1);
    CHECK(spots.walks()[0].complete == 1);
  }
  SUBCASE("another trace") {
    spots.take(first);
    spots.begin_trace(owners);
    spots.take(second);
    CHECK(spots.walks()[0].accesses == 1);
    CHECK(spots.walks()[0].complete == 0);
  }
}

}  // namespace htmtrace
