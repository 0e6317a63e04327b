// SPDX-License-Identifier: GPL-2.0-or-later
// Compares heat maps with counting each touch, after any number of merges of rows and columns.
#include "core/analysis/heat_map.h"

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/analysis/heat_maps.h"
#include "core/selection/selection.h"
#include "output/print/selecting_sink.h"
#include "output/report/heat_map_report.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace {
namespace {

struct Touch {
  uint64_t address = 0;
  uint64_t time = 0;
};

// Each cell of the map equals the count of the touches, and no cell is missing.
void compare_cells(const HeatMap& map, const std::vector<Touch>& touches) {
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> cells;
  for (const Touch& touch : touches) {
    cells[{touch.address / map.unit_bytes(), touch.time / map.window()}]++;
  }
  uint64_t sum = 0;
  for (const HeatMap::Row& row : map.hottest(1000)) {
    uint64_t of_row = 0;
    for (size_t i = 0; i < row.windows.size(); i++) {
      of_row += row.windows[i];
      if (row.windows[i] == 0) continue;
      const auto cell =
          cells.find({row.address / map.unit_bytes(), map.first_time() / map.window() + i});
      REQUIRE(cell != cells.end());
      REQUIRE(cell->second == row.windows[i]);
      cells.erase(cell);
    }
    REQUIRE(of_row == row.count);
    sum += of_row;
  }
  CHECK(cells.empty());
  CHECK(sum == touches.size());
  CHECK(map.total() == touches.size());
}

HeatMapReport heat_report(const HeatMaps& maps) {
  return {.maps = maps,
          .totals = {},
          .traces = 1,
          .what = "data accesses",
          .step = "instruction",
          .kind = "logical",
          .remarks = "1 trace\n",
          .name = [](const HeatMap::Row& row) {
            return row.address == 0x10000 ? std::string("a<b>") : std::string();
          }};
}

}  // namespace

TEST_CASE("a heat map counts accesses in rows and columns of any width") {
  for (uint64_t seed = 0; seed < 40; seed++) {
    generator::Random random(seed);
    HeatMap map(128, {.rows = 4 + random.below(60), .columns = 2 + random.below(30)});
    std::vector<Touch> touches;
    uint64_t time = random.below(2) * (uint64_t{1} << 35);
    const uint64_t spread = uint64_t{1} << random.below(40);
    for (int i = 0; i < 2000; i++) {
      time += random.below(1 + (seed % 7) * 100);
      // Time also goes back, as in another trace that is counted into the same map.
      if (random.chance(500)) time -= std::min(time, random.below(5000));
      const uint64_t address = random.chance(10) ? ~uint64_t{0} : random.below(spread) * 128;
      touches.push_back({address, time});
      map.add(address, time);
    }
    compare_cells(map, touches);
  }
}

TEST_CASE("one address at one time is one cell, and no address is no cell") {
  HeatMap map(4096);
  CHECK(map.windows() == 0);
  CHECK(map.hottest(10).empty());
  map.add(0x12345, 77, 0x500);
  map.add(0x12346, 77, 0x400);
  REQUIRE(map.hottest(10).size() == 1);
  CHECK(map.hottest(10)[0].address == 0x12000);
  CHECK(map.hottest(10)[0].names.lowest == 0x400);
  CHECK(map.windows() == 1);
  CHECK(map.first_time() == 77);
  CHECK(map.window() == 1);
}

TEST_CASE("the axis is time if the trace has time, otherwise events, unless it is chosen") {
  HeatMaps still(4096, std::nullopt);
  HeatMaps moving(4096, std::nullopt);
  HeatMaps chosen(4096, HeatAxis::kEvents);
  for (uint64_t i = 0; i < 4; i++) {
    still.add(0, {.instructions = i, .ticks = 0});
    moving.add(0, {.instructions = i, .ticks = i * 10});
    chosen.add(0, {.instructions = i, .ticks = i * 10});
  }
  still.add(std::nullopt, {});
  CHECK(still.axis() == HeatAxis::kEvents);
  CHECK(still.map().windows() == 4);
  CHECK(still.events() == 5);
  CHECK(still.without_address() == 1);
  CHECK(moving.axis() == HeatAxis::kTicks);
  CHECK(moving.map().windows() == 31);
  CHECK(chosen.map().windows() == 4);
}

TEST_CASE("data count at the position of their instruction, also after a selection") {
  Selection selection;
  selection.numbers.first = 2;
  HeatMaps maps(4096, HeatAxis::kTicks);
  const SymbolTable none;
  DataHeat heat(maps, DataKey::kEffective, none);
  SelectingSink sink(selection, heat);
  Stamp stamp;
  stamp.kind = StampKind::kTime;
  stamp.elapsed = 100;
  for (int i = 0; i < 4; i++) {
    Instruction instruction;
    instruction.add_data({0x5000});
    sink.instruction(instruction);
    sink.stamp(stamp);
  }
  heat.finish();
  // The first two accesses are not selected, but their time has passed.
  CHECK(maps.map().total() == 2);
  CHECK(maps.map().first_time() == 200 / maps.map().window() * maps.map().window());
}

TEST_CASE("shades are logarithmic, and a nonzero count is never blank") {
  CHECK(heat_level(0, 100) == 0);
  CHECK(heat_level(1, 1) == kHeatLevels);
  CHECK(heat_level(1, ~uint64_t{0}) == 1);
  CHECK(heat_level(100, 100) == kHeatLevels);
  CHECK(heat_level(1000, 100) == kHeatLevels);
  for (uint64_t count = 1; count < 5000; count++) {
    CHECK(heat_level(count, 5000) >= heat_level(count - 1, 5000));
  }
}

TEST_CASE("all formats of a heat map show the same counts") {
  HeatMaps maps(0x10000, HeatAxis::kTicks);
  for (uint64_t i = 0; i < 300; i++) {
    maps.add(0x10000, {.instructions = i, .ticks = i});
    if (i % 3 == 0) maps.add(0x50000, {.instructions = i, .ticks = i});
    if (i == 299) maps.add(0x90000, {.instructions = i, .ticks = i});
  }
  HeatMapReport report = heat_report(maps);
  report.top = 2;
  const auto json = nlohmann::json::parse(report.to_json());
  CHECK(json.at("rows").size() == 2);
  CHECK(json.at("rows")[0].at("symbol") == "a<b>");
  CHECK(json.at("rows")[1].at("symbol").is_null());
  CHECK(json.at("rows")[0].at("count") == 300);
  CHECK(json.at("others").at("count") == 1);
  uint64_t sum = 0;
  for (const auto& count : json.at("rows")[1].at("counts")) sum += count.get<uint64_t>();
  CHECK(sum == 100);
  CHECK(json.at("rows")[1].at("counts").size() == json.at("windows"));

  const std::string text = report.to_text();
  CHECK(text.find("0000000000010000  74.81% |") != std::string::npos);
  CHECK(text.find("| a<b>\n") != std::string::npos);
  CHECK(text.find("1 other row") != std::string::npos);
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    CHECK(end - begin <= HeatMapReport::kWidth + 20);  // the name follows
  }
  const std::string svg = report.to_svg();
  CHECK(svg.starts_with("<svg xmlns="));
  CHECK(svg.find("a&lt;b&gt;") != std::string::npos);
  CHECK(svg.find("a<b>") == std::string::npos);
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(report.to_csv().starts_with("address,unit_bytes,time,window,count,symbol\n0x00000000000"));

  const HeatMaps nothing(4096, std::nullopt);
  CHECK(heat_report(nothing).to_text().find("nothing to show") != std::string::npos);
  CHECK(heat_report(nothing).to_svg().ends_with("</svg>\n"));
  CHECK(nlohmann::json::parse(heat_report(nothing).to_json()).at("rows").empty());
}

}  // namespace htmtrace
