// SPDX-License-Identifier: GPL-2.0-or-later
// Compares two traces.
#include "output/report/diff_report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/analysis/nest_profile.h"
#include "output/report/core_diff.h"
#include "output/report/nest_diff.h"
#include "tests/encoder/nest.h"

namespace htmtrace {
namespace {

DiffPart diff_part(const char* name, uint64_t count) {
  return {.name = name, .address = {}, .symbol = {}, .count = count};
}

Instruction instruction_at(uint64_t address) {
  Instruction instruction;
  instruction.ea = {address};
  instruction.has_ea = true;
  return instruction;
}

}  // namespace

TEST_CASE("the order of parts with the same name does not matter") {
  DiffCounts counts{
      .whole = 6, .error = 0, .parts = {diff_part("a", 1), diff_part("a", 2), diff_part("a", 3)}};
  counts.parts[0].address = 0x3000;
  counts.parts[0].symbol = "high";
  counts.parts[1].address = 0x1000;
  counts.parts[1].symbol = "low";
  std::ranges::sort(counts.parts, {}, &DiffPart::count);
  do {
    const DiffTable table = compare({.key = "code", .title = "code"}, counts, counts);
    REQUIRE(table.rows.size() == 1);
    CHECK(table.rows[0].address == 0x1000);
    CHECK(table.rows[0].symbol == "low");
    CHECK(table.rows[0].after == 6);
  } while (std::ranges::next_permutation(counts.parts, {}, &DiffPart::count).found);
}

TEST_CASE("parts are joined by name, added up, and sorted by the change of their share") {
  const DiffCounts before{.whole = 100,
                          .error = 0,
                          .parts = {diff_part("a", 50), diff_part("b", 30), diff_part("c", 20)}};
  const DiffCounts after{.whole = 1000,
                         .error = 3,
                         .parts = {diff_part("a", 300), diff_part("a", 210), diff_part("d", 190),
                                   diff_part("b", 300), diff_part("e", 0)}};
  const DiffTable table = compare({.key = "code", .title = "code"}, before, after);
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[0].name == "c");
  CHECK(diff_remark(table.rows[0]) == "gone");
  CHECK(table.rows[1].name == "d");
  CHECK(diff_remark(table.rows[1]) == "new");
  CHECK(table.change(table.rows[1]) == doctest::Approx(19));
  CHECK(table.rows[2].name == "a");
  CHECK(table.rows[2].after == 510);
  CHECK(diff_remark(table.rows[2]).empty());
  CHECK(table.rows[3].name == "b");
  CHECK(table.change(table.rows[3]) == doctest::Approx(0));

  DiffReport report{.before = {.name = "x", .traces = 1, .totals = {}},
                    .after = {.name = "y", .traces = 2, .totals = {}},
                    .what = "instructions",
                    .tables = {table}};
  CHECK(report.to_text().find("too small by at most 3") != std::string::npos);
  CHECK(report.to_text().find(
            "            20    20.00%              -         -   -20.00  gone  c\n") !=
        std::string::npos);
  const auto json = nlohmann::json::parse(report.to_json());
  CHECK(json.at("tables")[0].at("rows")[1].at("after") == 190);
  CHECK(json.at("tables")[0].at("rows")[1].at("address").is_null());
  report.top = 1;
  CHECK(nlohmann::json::parse(report.to_json()).at("tables")[0].at("rows").size() == 1);
  CHECK(nlohmann::json::parse(report.to_json()).at("tables")[0].at("rows_in_all") == 4);
}

TEST_CASE("comparing two empty traces gives an empty table") {
  CHECK(compare({.key = "code", .title = "code"}, {}, {}).rows.empty());
}

TEST_CASE("code is joined by each side's own names") {
  SymbolTable old_names;
  old_names.add({0x1000, 0x100, "worker"});
  old_names.finish();
  SymbolTable new_names;
  new_names.add({0x9000, 0x100, "worker"});
  new_names.finish();
  const HotSpots::Wishes wishes{.key = DataKey::kEffective, .units = {4096}};
  HotSpots before(wishes, old_names);
  HotSpots after(wishes, new_names);
  before.instruction(instruction_at(0x1010));
  before.instruction(instruction_at(0x5000));
  after.instruction(instruction_at(0x9010));
  after.instruction(instruction_at(0x9020));
  before.finish();
  after.finish();
  const MappingNames unknown;
  const auto tables = compare_cores({before, unknown}, {after, unknown});
  REQUIRE(tables.size() == 4);
  REQUIRE(tables[2].rows.size() == 2);
  CHECK(tables[2].rows[0].name == "0000000000005000");
  CHECK(tables[2].rows[1].name == "worker");
  CHECK(tables[2].rows[1].before == 1);
  CHECK(tables[2].rows[1].after == 2);
  CHECK(tables[2].rows[1].address == 0x9000);
}

TEST_CASE("data are joined by object, or by mapping") {
  SymbolTable symbols;
  symbols.add({.address = 0x10020000, .size_bytes = 0x20000, .name = "array"});
  symbols.finish();
  const auto run = [](HotSpots& spots, uint64_t stack, uint64_t slab, int times) {
    Instruction instruction = instruction_at(0x1000);
    for (const uint64_t ea : {uint64_t{0x10030010}, stack, slab}) {
      instruction.data_count = 0;
      instruction.add_data({ea});
      for (int i = 0; i < times; i++) spots.instruction(instruction);
    }
    spots.finish();
  };
  const HotSpots::Wishes wishes{.key = DataKey::kEffective, .units = {0x10000}};
  HotSpots before(wishes, symbols), after(wishes, symbols);
  MappingNames old_maps, new_maps;
  old_maps.add_file("7ffffe000000-7ffffe010000 rw-p 0 0:0 0 [stack]\n");
  new_maps.add_file("7fffff000000-7fffff010000 rw-p 0 0:0 0 [stack]\n");
  run(before, 0x7ffffe000100, 0xc000000001230000, 3);
  run(before, 0x7ffffdff0100, 0xc000000004560000, 1);
  run(after, 0x7fffff000100, 0xc000000007890000, 8);
  const auto tables = compare_cores({before, old_maps}, {after, new_maps});
  REQUIRE(tables[3].rows.size() == 3);
  for (const DiffRow& row : tables[3].rows) {
    CHECK(row.before == 4);
    CHECK(row.after == 8);
  }
  CHECK(tables[3].rows[0].name == "[kernel: linear map]");
  CHECK(tables[3].rows[1].name == "[stack]");
  CHECK(tables[3].rows[2].name == "array+0x10000");
}

TEST_CASE("commands of two processors are joined by name") {
  nest::Profile before(nest::Layout::kPower8, {.logical = false, .units = {4096}});
  nest::Profile after(nest::Layout::kPower9, {.logical = false, .units = {4096}});
  const auto add = [](nest::Profile& profile, uint32_t ttype, uint32_t tsize) {
    nest::Command command{};
    command.ttype = ttype;
    command.tsize = tsize;
    profile.seen(command);
    profile.command({}, command, std::nullopt);
    profile.finish();
  };
  add(before, 0, 0x20);  // rd_go_s in either layout
  add(after, 0, 0x40);
  const SymbolTable known;
  const PageNames none(known);
  const auto tables = compare_nests({before, none}, {after, none});
  REQUIRE(tables.size() == 3);
  REQUIRE(tables[0].rows.size() == 1);
  CHECK(tables[0].rows[0].name == "rd_go_s");
  CHECK(tables[0].change(tables[0].rows[0]) == doctest::Approx(0));
}

}  // namespace htmtrace
