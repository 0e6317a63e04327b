// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the owners of memory with a check of each claim at each address.
#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/memory_map/owners.h"
#include "core/memory_map/translation.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace {
namespace {

struct Work {
  uint64_t count = 0;
};

constexpr uint64_t kSpace = 200;

// Returns the owner by the claim that begins first, or has the lower LP index.
std::optional<uint32_t> owner_by_claims(const std::vector<MemoryOwners::Range>& claims,
                                        uint64_t address) {
  const MemoryOwners::Range* first = nullptr;
  for (const MemoryOwners::Range& claim : claims) {
    if (address < claim.real || address >= claim.real + claim.size_bytes) continue;
    if (first == nullptr ||
        std::pair(claim.real, claim.partition) < std::pair(first->real, first->partition)) {
      first = &claim;
    }
  }
  return first == nullptr ? std::nullopt : std::optional(first->partition);
}

uint64_t contested_by_claims(const std::vector<MemoryOwners::Range>& claims) {
  uint64_t contested = 0;
  for (uint64_t address = 0; address < kSpace; address++) {
    std::set<uint32_t> claimants;
    for (const MemoryOwners::Range& claim : claims) {
      if (address - claim.real < claim.size_bytes) claimants.insert(claim.partition);
    }
    contested += claimants.size() > 1 ? 1 : 0;
  }
  return contested;
}

// The memory around an address holds it, has one owner, and ends before another owner's memory.
void check_memory_around_addresses(const MemoryOwners& owners) {
  OwnerTable<Work> table;
  table.begin_trace(owners);
  for (uint64_t address = 0; address < kSpace; address++) {
    const auto memory = table.around({address});
    REQUIRE(memory.holds({address}));
    for (uint64_t other = 0; other < kSpace; other++) {
      if (memory.holds({other})) REQUIRE(&table.at({other}) == memory.entry);
    }
    const uint64_t end = memory.real + memory.size_bytes;
    if (end < kSpace) REQUIRE(&table.at({end}) != memory.entry);
  }
}

}  // namespace

TEST_CASE("each address has the owner that its claims state") {
  generator::Random random(21);
  for (int round = 0; round < 2000; round++) {
    std::vector<MemoryOwners::Range> claims(random.below(9));
    for (MemoryOwners::Range& claim : claims) {
      claim = {.real = random.below(kSpace / 2),
               .size_bytes = 1 + random.below(kSpace / 4),
               .partition = static_cast<uint32_t>(random.below(4))};
    }
    const MemoryOwners owners(claims);
    for (uint64_t address = 0; address < kSpace; address++) {
      const MemoryOwners::Range* const found = owners.find({address});
      const auto expected = owner_by_claims(claims, address);
      REQUIRE((found != nullptr) == expected.has_value());
      if (found != nullptr) REQUIRE(found->partition == *expected);
    }
    if (round < 100) check_memory_around_addresses(owners);
    REQUIRE(owners.contested_bytes() == contested_by_claims(claims));
    REQUIRE(owners.empty() == claims.empty());
  }
}

TEST_CASE("a table counts by owner over traces with separate maps") {
  const MemoryOwners one({{.real = 100, .size_bytes = 50, .partition = 3}});
  const MemoryOwners other({{.real = 100, .size_bytes = 20, .partition = 0xffffffff}});
  OwnerTable<Work> table;
  table.at({100}).count++;  // no map is loaded yet
  CHECK_FALSE(table.known());
  table.begin_trace(one);
  for (const uint64_t address : {100, 149, 150, 99, 120}) table.at({address}).count++;
  table.begin_trace(other);
  for (const uint64_t address : {100, 119, 120}) table.at({address}).count++;
  const MemoryOwners nobody;
  table.begin_trace(nobody);
  table.at({100}).count++;
  table.unknown().count++;
  CHECK(table.known());
  const auto rows = table.rows();
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].key == 3);
  CHECK(rows[0].entry.count == 3);
  CHECK(rows[1].key == MemoryOwners::kNobody);
  CHECK(rows[1].entry.count == 3);
  CHECK(rows[2].key == MemoryOwners::kUnknown);
  CHECK(rows[2].entry.count == 3);
  CHECK(rows[3].key == 0xffffffff);
  CHECK(rows[3].entry.count == 2);
}

TEST_CASE("a memory map gives the owners of all its memory") {
  // Blocks of partitions 7, 0 and 3 alternate.
  const TranslationMap map(generator::translation_file(), 0);
  const std::vector<MemoryOwners::Range>& ranges = map.owners().ranges();
  REQUIRE(ranges.size() == 3 * generator::kOwnBlocks);
  for (size_t i = 0; i < ranges.size(); i++) {
    REQUIRE(ranges[i].size_bytes == generator::kBlockBytes);
    REQUIRE(ranges[i].partition == std::array<uint32_t, 3>{7, 0, 3}.at(i % 3));
  }
  CHECK(map.report().contested_bytes == 0);
  CHECK(TranslationMap().owners().empty());
}

}  // namespace htmtrace
