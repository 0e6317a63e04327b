// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the report of hot spots for a few instructions and walks.
#include "core/analysis/hot_spots.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "output/report/hot_spots_report.h"
#include "tests/unit/analysis/hot_spots.h"

namespace htmtrace {

TEST_CASE("hot data: units, kinds of access, and accessing code") {
  const SymbolTable symbols = kernel_symbols();
  HotSpots spots({.key = DataKey::kLogical, .units = {128, 4096}, .entries = 100}, symbols);
  for (int i = 0; i < 10; i++) {
    spots.instruction(accessing(0xc000000000010004, kLd, 0xc000000001000010, 0x1000010));
  }
  for (int i = 0; i < 5; i++) {
    spots.instruction(accessing(0xc000000000010104, kStd, 0xc000000001000020, 0x1000020));
  }
  spots.instruction(accessing(0x10000104, kStd, 0x20000100, 0x1000100));
  Instruction unknown = accessing(0x10000104, kStd, 0x20000100, 0);
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
  spots.instruction(accessing(kNobodys | 0x10000100, kLd, kNobodys | 0x10000800, 0x5000));
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

TEST_CASE("code without a name gets no name of a function that ends in its line") {
  SymbolTable table;
  table.add({.address = 0xc000000000010000, .size_bytes = 0x10, .name = "first"});
  table.add({.address = 0xc000000000010040, .size_bytes = 0x20, .name = "second"});
  table.finish();
  HotSpots spots({.key = DataKey::kLogical, .units = {128}, .entries = 100}, table);
  for (uint64_t at = 0; at < 0x100; at += 4) {
    spots.instruction(accessing(0xc000000000010000 + at, kLd, 0xc000000001000010, 0x1000010));
  }
  spots.finish();
  const std::string csv =
      HotSpotsReport{.spots = spots, .totals = {}, .traces = 1, .top = 10}.to_csv();
  CAPTURE(csv);
  for (const char* row :
       {"code,,4,0,,,,4,,0xc000000000010000,first,\n", "code,,12,0,,,,12,,0xc000000000010010,,\n",
        "code,,8,0,,,,8,,0xc000000000010040,second,\n", "code,,8,0,,,,8,,0xc000000000010060,,\n",
        "code,,32,0,,,,32,,0xc000000000010080,,\n"}) {
    CHECK(csv.find(row) != std::string::npos);
  }
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

}  // namespace htmtrace
