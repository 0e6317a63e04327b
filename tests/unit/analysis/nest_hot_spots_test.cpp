// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/nest_hot_spots.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tests/encoder/nest.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace::nest {

TEST_CASE("hot addresses agree with counting each command") {
  generator::Random random(8);
  HotSpots spots(Layout::kPower9, {.logical = false, .units = {128, 4096}, .entries = 1000});
  std::map<uint64_t, uint64_t> lines;
  std::map<uint32_t, uint64_t> sources_of_first;
  for (int i = 0; i < 20000; i++) {
    nest_command made{};
    made.address = 0x1000000 + random.below(20) * random.below(20) * 128;
    made.unit = 0x42 + static_cast<unsigned>(random.below(3));
    made.tsize = 0x40;  // rd_go_s
    uint64_t pair[2];
    power9_nest_command(pair, &made, nullptr);
    Event event;
    event.record = {pair[0], pair[1]};
    event.has_response = random.chance(500);
    event.response = 0x18;  // rty
    spots.command(event, command_of(Layout::kPower9, event.record), std::nullopt);
    lines[made.address]++;
    if (made.address == 0x1000000) sources_of_first[made.unit]++;
  }
  spots.finish();
  REQUIRE(spots.tables().at(0).error() == 0);
  const auto top = spots.tables().at(0).top(1000);
  REQUIRE(top.size() == lines.size());
  for (const auto& slot : top) {
    REQUIRE(slot.entry.count == lines.at(slot.key));
    REQUIRE(slot.entry.retries <= slot.entry.count);
  }
  CHECK(top.at(0).key == 0x1000000);
  for (const auto& place : top.at(0).entry.sources.sorted()) {
    CHECK(place.count == sources_of_first.at(source_of(static_cast<uint32_t>(place.value)).unit));
  }
  HotSpots logical(Layout::kPower9, {.logical = true, .units = {128}, .entries = 16});
  logical.command({}, {}, std::nullopt);
  logical.finish();
  CHECK(logical.without_address() == 1);
  CHECK(logical.tables().at(0).size() == 0);
}

namespace {

// The command of a unit to an address.
Command command_from(unsigned unit, uint64_t address) {
  nest_command made{};
  made.address = address;
  made.unit = unit;
  made.tsize = 0x40;  // rd_go_s
  uint64_t pair[2];
  power9_nest_command(pair, &made, nullptr);
  return command_of(Layout::kPower9, {pair[0], pair[1]});
}

}  // namespace

TEST_CASE("dropped rows return the room of their lists") {
  HotSpots spots(Layout::kPower9, {.logical = false, .units = {128}, .entries = 16});
  uint64_t address = 0;
  // Each address uses more than half of the room of the table.
  for (int round = 0; round < 100; round++, address += 128) {
    for (unsigned unit = 0; unit < 60; unit++) {
      spots.command({}, command_from(0x42 + unit, address), std::nullopt);
    }
    // All rows have the same count, so the next drop leaves none of them.
    for (int i = 0; i < 16; i++) {
      address += 128;
      for (int times = 0; times < 60; times++) {
        spots.command({}, command_from(0x42, address), std::nullopt);
      }
    }
  }
  for (unsigned unit = 0; unit < 60; unit++) {
    spots.command({}, command_from(0x42 + unit, address + 128), std::nullopt);
  }
  spots.finish();
  CHECK(spots.tables().at(0).error() != 0);
  const auto rows = spots.tables().at(0).entries();
  const auto last = std::find_if(rows.begin(), rows.end(),
                                 [&](const auto& slot) { return slot.key == address + 128; });
  REQUIRE(last != rows.end());
  CHECK(last->entry.sources.others() == 0);
  CHECK(last->entry.sources.sorted().size() == 60);
}

}  // namespace htmtrace::nest
