// SPDX-License-Identifier: GPL-2.0-or-later
// Compares hot spots with counting each event.

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "core/analysis/hot_spots.h"
#include "core/core_trace/modes.h"
#include "core/memory_map/owners.h"
#include "core/memory_map/translation.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/analysis/hot_spots.h"

namespace htmtrace {
namespace {

// Random instructions. Each may have other modes than its predecessor, or lack an address, and so
// end a run.
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

}  // namespace

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

}  // namespace htmtrace
