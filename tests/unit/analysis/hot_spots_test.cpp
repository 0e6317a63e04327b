// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the report of hot spots, and its names, with slow implementations.
#include "core/analysis/hot_spots.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/core_trace/decoder.h"
#include "output/report/hot_spots_report.h"
#include "output/symbols/elf_symbols.h"
#include "output/symbols/kallsyms.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

// Keeps all events of a decoder.
struct Kept {
  void instruction(const Instruction& instruction) { instructions.push_back(instruction); }
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}
  std::vector<Instruction> instructions;
};

std::vector<Instruction> random_instructions(unsigned count) {
  std::vector<uint64_t> words;
  generator::Power10Program program(11, {});
  for (unsigned i = 0; i < count; i++) program.next(words, false);
  const std::vector<std::byte> trace = generator::bytes_of(words);
  const TranslationMap map(generator::translation_file(), 0);
  Kept kept;
  CoreDecoder decoder(map, kept);
  decoder.feed(trace);
  decoder.finish();
  return kept.instructions;
}

Instruction access(uint64_t ea, uint32_t opcode, uint64_t dea, uint64_t la) {
  Instruction instruction;
  instruction.ea = EffectiveAddr{ea};
  instruction.has_ea = true;
  instruction.opcode = opcode;
  instruction.has_opcode = true;
  DataAccess& data = instruction.add_data(EffectiveAddr{dea});
  data.la = LogicalAddr{la};
  data.has_la = true;
  return instruction;
}

// An address of the trace that belongs to no program. Its bits look like an owner
// (core/analysis/symbol_table.h).
constexpr uint64_t kNobodys = uint64_t{1} << 52;

constexpr uint32_t kLoad = 0xe8640008;
constexpr uint32_t kStore = 0xf8640008;

SymbolTable kernel_symbols() {
  SymbolTable table;
  const KallsymsReport report = add_kallsyms(
      "c000000000010000 T start\n"
      "c000000000010000 t start_alias\n"
      "c000000000010100 t helper\n"
      "c008000000000000 t work\t[module]\n"
      "0000000000000000 A fixed\n"
      "not a line\n"
      "c000000001000000 D hammered\n",
      table);
  CHECK(report.symbols == 5);
  CHECK(report.malformed == 1);
  CHECK(report.hidden == 0);
  table.finish();
  return table;
}

std::string name_at(const SymbolTable& table, uint64_t address) {
  const SymbolTable::Symbol* symbol = table.find({address});
  return symbol == nullptr ? "" : symbol_text(*symbol, address);
}

}  // namespace

TEST_CASE("kernel symbols") {
  const SymbolTable table = kernel_symbols();
  CHECK(name_at(table, 0xc000000000010000) == "start");
  CHECK(name_at(table, 0xc0000000000100ff) == "start+0xff");
  CHECK(name_at(table, 0xc000000000010104) == "helper+0x4");
  CHECK(name_at(table, 0xc008000000000004) == "work [module]+0x4");
  CHECK(name_at(table, 0xc00000000000fffc).empty());
  CHECK(name_at(table, 0xc000000000010100 + SymbolTable::kMostBytes).empty());
  // Data symbols do not name code.
  CHECK(name_at(table, 0xc000000001000008) == "hammered+0x8");
  CHECK(table.find_code({0xc000000001000008}) == nullptr);
  CHECK(table.find_code({0xc000000000010104}) != nullptr);
  SymbolTable hidden;
  CHECK(add_kallsyms("0000000000000000 T start\n", hidden).hidden == 1);
  CHECK(hidden.empty());
}

TEST_CASE("symbols of ELF files") {
  SymbolTable table;
  CHECK_THROWS_AS(add_elf_symbols("/nonexistent/file", std::nullopt, table), Error);
  if (!can_read_elf()) return;
  const TemporaryFolder folder;
  folder.write("text", "this is no ELF file");
  CHECK_THROWS_AS(add_elf_symbols(folder.path() / "text", std::nullopt, table), Error);
  // This program itself, as if it had been loaded at a far address.
  constexpr uint64_t kPlace = 0x7fff00000000;
  const size_t added = add_elf_symbols("/proc/self/exe", kPlace, table);
  CHECK(added > 100);
  table.finish();
  CHECK(table.size() > 100);
  CHECK(table.find({kPlace - 1}) == nullptr);
}

TEST_CASE("hot data: units, kinds of access, and accessing code") {
  const SymbolTable symbols = kernel_symbols();
  HotSpots spots({.key = DataKey::kLogical, .units = {128, 4096}, .entries = 100}, symbols);
  for (int i = 0; i < 10; i++) {
    spots.instruction(access(0xc000000000010004, kLoad, 0xc000000001000010, 0x1000010));
  }
  for (int i = 0; i < 5; i++) {
    spots.instruction(access(0xc000000000010104, kStore, 0xc000000001000020, 0x1000020));
  }
  spots.instruction(access(0x10000104, kStore, 0x20000100, 0x1000100));
  Instruction unknown = access(0x10000104, kStore, 0x20000100, 0);
  unknown.data.at(0).has_la = false;
  spots.instruction(unknown);
  spots.finish();
  REQUIRE(spots.data().size() == 2);
  const auto lines = spots.data().at(0).top(10);
  REQUIRE(lines.size() == 2);
  CHECK(lines.at(0).key == 0x1000000);
  CHECK(lines.at(0).entry.count == 15);
  CHECK(lines.at(0).entry.loads == 10);
  CHECK(lines.at(0).entry.stores == 5);
  CHECK(lines.at(0).entry.lowest_ea == 0xc000000001000010);
  const auto pages = spots.data().at(1).top(10);
  REQUIRE(pages.size() == 1);
  CHECK(pages.at(0).entry.count == 16);
  CHECK(spots.data_accesses() == 17);
  CHECK(spots.data_without_address() == 1);
  CHECK(spots.code().top(1).at(0).key == 0xc000000000010000);
  CHECK(spots.of_class(InstructionClass::kStore) == 7);

  const HotSpotsReport report{.spots = spots, .totals = {}, .traces = 1, .top = 10};
  const std::string text = report.to_text();
  CAPTURE(text);
  CHECK(text.find("  start(10) helper(5)  in hammered+0x10\n") != std::string::npos);
  CHECK(text.find("1 data access (5.88%) without a known logical address") != std::string::npos);
  const auto json = nlohmann::json::parse(report.to_json());
  CHECK(json.at("data").at(0).at("top").at(0).at("touched_by").at(0).at("symbol") == "start");
  CHECK(json.at("data").at(1).at("unit_bytes") == 4096);
  CHECK(json.at("code").at("top").at(0).at("instructions") == 10);
  const std::string csv = report.to_csv();
  CHECK(csv.find("data-logical,128,15,0,10,5,0,,0x0000000001000000,0xc000000001000010,"
                 "hammered+0x10,start(10) helper(5)\n") != std::string::npos);
  CHECK(csv.find("code,,10,0,,,,10,,0xc000000000010000,start,\n") != std::string::npos);
}

TEST_CASE("addresses without an owner are neither counted as others nor named") {
  SymbolTable table;
  table.begin_program({.file = "prog",
                       .is_main = true,
                       .begin = 0x10000000,
                       .end = 0x20000000,
                       .loads = {},
                       .texts = {}});
  table.add({.address = 0x10000000, .size_bytes = 0x1000, .name = "work"});
  table.end_program();
  table.finish();
  HotSpots spots({.key = DataKey::kLogical, .units = {128}, .entries = 100}, table);
  spots.instruction(access(kNobodys | 0x10000100, kLoad, kNobodys | 0x10000800, 0x5000));
  spots.finish();
  CHECK(spots.code_without_address() == 1);
  CHECK(spots.code().size() == 0);
  const auto top = spots.data().at(0).top(1);
  REQUIRE(top.size() == 1);
  CHECK(top[0].key == 0x5000);
  CHECK(top[0].entry.lowest_ea == HotData::kNoAddress);
  CHECK(top[0].entry.sites.sorted().empty());
  const HotSpotsReport report{.spots = spots, .totals = {}, .traces = 1, .top = 1};
  CHECK(report.to_text().find("0000000000005000  ----------------\n") != std::string::npos);
  CHECK(report.to_csv().find(",0x0000000000005000,,,") != std::string::npos);
  CHECK(nlohmann::json::parse(report.to_json())["data"][0]["top"][0]["ea"].is_null());
}

TEST_CASE("walks by side, result and page size") {
  const SymbolTable none;
  HotSpots spots({.units = {128}}, none);
  CHECK(HotSpotsReport{.spots = spots, .totals = {}, .traces = 1, .top = 1}.to_text().find(
            "walks") == std::string::npos);
  Walk walk;
  spots.walk(walk);  // interrupted, on the instruction side
  walk.data_side = true;
  walk.use = WalkUse::kAccess;
  walk.host_shift = 30;
  spots.walk(walk);
  walk.complete = true;
  walk.guest_shift = 16;
  spots.walk(walk);
  spots.walk(walk);
  spots.finish();
  const HotSpotsReport report{.spots = spots, .totals = {}, .traces = 1, .top = 1};
  const std::string text = report.to_text();
  CAPTURE(text);
  CHECK(
      text.ends_with("\nwalks through page tables\n"
                     "         walks   share  side         use\n"
                     "             1  25.00%  instruction  interrupted\n"
                     "             2  50.00%  data         complete\n"
                     "             1  25.00%  data         incomplete\n"
                     "\npage sizes of the walks\n"
                     "         walks   share  side         guest  host\n"
                     "             1  33.33%  data         -      1G\n"
                     "             2  66.67%  data         64K    1G\n"));
  CHECK(
      report.to_csv().ends_with("walk-instruction,,1,0,,,,,interrupted,,,\n"
                                "walk-data,,2,0,,,,,complete,,,\n"
                                "walk-data,,1,0,,,,,incomplete,,,\n"
                                "page-data,,1,0,,,,,guest - host 1G,,,\n"
                                "page-data,,2,0,,,,,guest 64K host 1G,,,\n"));
  const auto json = nlohmann::json::parse(report.to_json());
  CHECK(json.at("walks").at(0).at("interrupted") == 1);
  CHECK(json.at("walks").at(1).at("pages").at(0).at("guest_page").is_null());
  CHECK(json.at("walks").at(1).at("pages").at(1).at("guest_page") == 65536);
  CHECK(json.at("walks").at(1).at("pages").at(1).at("walks") == 2);
}

// Any instruction may have other modes, or lack an address, and so ends a run.
std::vector<Instruction> mixed_instructions(unsigned count) {
  std::vector<Instruction> instructions = random_instructions(count);
  generator::Random random(3);
  Modes modes;
  for (Instruction& instruction : instructions) {
    if (random.chance(100)) modes = {static_cast<uint16_t>(random.next()), Modes::kAll};
    if (random.chance(10)) modes.known = 0;
    instruction.modes = modes;
    if (random.chance(50)) instruction.has_ra = false;
    if (random.chance(20)) instruction.has_ea = false;
    if (random.chance(20)) instruction.ea.value = kNobodys + 4;
  }
  return instructions;
}

uint64_t owner_of(const MemoryOwners& owners, bool has_ra, RealAddr ra) {
  if (!has_ra) return MemoryOwners::kUnknown;
  const MemoryOwners::Range* const range = owners.find(ra);
  return range == nullptr ? MemoryOwners::kNobody : range->partition;
}

TEST_CASE("a report agrees with counting each event") {
  const std::vector<Instruction> instructions = mixed_instructions(20000);
  const TranslationMap map(generator::translation_file(), 0);
  // Without the highest blocks, nobody owns some of the memory.
  std::vector<MemoryOwners::Range> ranges = map.owners().ranges();
  ranges.resize(ranges.size() / 2);
  const MemoryOwners owners(ranges);
  const SymbolTable none;
  HotSpots spots({.key = DataKey::kReal, .units = {128}, .entries = 1 << 16}, none);
  spots.begin_trace(owners);
  std::map<uint64_t, uint64_t> data;
  std::map<uint64_t, HotCode> code;
  std::map<uint64_t, OwnedWork> work;
  std::map<Privilege, uint64_t> privileges;
  uint64_t without_address = 0;
  for (const Instruction& instruction : instructions) {
    spots.instruction(instruction);
    privileges[privilege_of(instruction.modes)]++;
    work[owner_of(owners, instruction.has_ra, instruction.ra)].count++;
    if (instruction.has_ea && !owned::is_nobodys(instruction.ea.value)) {
      HotCode& line = code[instruction.ea.value & ~uint64_t{127}];
      line.count++;
      line.data += instruction.data_count;
    } else {
      without_address++;
    }
    for (unsigned i = 0; i < instruction.data_count; i++) {
      const DataAccess& access = instruction.data.at(i);
      data[access.ra.value & ~uint64_t{127}]++;
      work[owner_of(owners, access.has_ra, access.ra)].data++;
    }
  }
  spots.finish();
  CHECK(spots.instructions() == instructions.size());
  CHECK(spots.code_without_address() == without_address);
  CHECK(privileges.size() == kPrivileges);
  for (const auto& [who, count] : privileges) CHECK(spots.of_privilege(who) == count);
  REQUIRE(spots.data().at(0).error() == 0);
  const auto hot_data = spots.data().at(0).top(1 << 16);
  CHECK(hot_data.size() == data.size());
  for (const auto& slot : hot_data) REQUIRE(slot.entry.count == data.at(slot.key));
  const auto hot_code = spots.code().top(1 << 16);
  CHECK(hot_code.size() == code.size());
  for (const auto& slot : hot_code) {
    REQUIRE(slot.entry.count == code.at(slot.key).count);
    REQUIRE(slot.entry.data == code.at(slot.key).data);
  }
  const auto rows = spots.owners().rows();
  CHECK(rows.size() == work.size());
  CHECK(work.contains(MemoryOwners::kNobody));
  for (const auto& row : rows) {
    CHECK(row.entry.count == work.at(row.key).count);
    CHECK(row.entry.data == work.at(row.key).data);
  }
}

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
        part.instruction(access(site + random.below(32) * 4, kLoad, la, la));
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

TEST_CASE("a part that is cleared instead of taken leaves no counts") {
  const SymbolTable none;
  HotSpots spots({.units = {128}}, none);
  HotPart part = spots.new_part();
  part.instruction(access(0x1000, kLoad, 0x8000, 0x8000));
  part.clear();
  part.instruction(access(0x1004, kLoad, 0x8000, 0x8000));
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
