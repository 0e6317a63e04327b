// SPDX-License-Identifier: GPL-2.0-or-later
// Selection by name where addresses alone do not identify the code.
#include "core/analysis/name_selection.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/traces/named_symbols.h"
#include "core/base/error.h"

namespace htmtrace {
namespace {

constexpr uint64_t kBegin = 0x10000000;
constexpr uint64_t kTeaPages = 0x100000;
constexpr uint64_t kCupPages = 0x500000;

void add_program(SymbolTable& table, PageOwners& pages, const std::string& file, uint64_t la,
                 const std::string& function, const std::string& object) {
  SymbolTable::Program program;
  program.file = file;
  program.is_main = true;
  program.begin = kBegin;
  program.end = kBegin + 0x20000;
  table.begin_program(std::move(program));
  table.add({.address = kBegin + 0x100,
             .size_bytes = 0x80,
             .name = function,
             .section = SymbolTable::Section::kCode});
  table.add({.address = kBegin + 0x180,
             .size_bytes = 0x80,
             .name = "common",
             .section = SymbolTable::Section::kCode});
  table.add({.address = kBegin + 0x10000,
             .size_bytes = 0x1000,
             .name = object,
             .kind = SymbolTable::Kind::kObject,
             .section = SymbolTable::Section::kData});
  table.end_program();
  const uint32_t process = pages.add_process();
  const uint32_t number = pages.file_number(file, 1);
  pages.add_mapping(process, number);
  pages.add({.la = la, .size_bytes = 0x20000, .ea = kBegin, .process = process, .file = number});
}

// Two programs with the same addresses.
SymbolTable two_programs() {
  SymbolTable table;
  PageOwners pages;
  add_program(table, pages, "tea", kTeaPages, "brew", "pot");
  add_program(table, pages, "cup", kCupPages, "drink", "sugar");
  pages.finish();
  table.set_pages(std::move(pages));
  table.finish();
  return table;
}

Instruction instruction_at(uint64_t offset, uint64_t pages) {
  Instruction instruction;
  instruction.ea = {kBegin + offset};
  instruction.la = {pages + offset};
  instruction.has_ea = instruction.has_la = true;
  return instruction;
}

bool selects_code(const NameSelection& selection, const Instruction& instruction) {
  return NameSelector(selection).match(instruction).code;
}

NameOptions by_function(const std::string& name) {
  NameOptions options;
  options.functions = {name};
  return options;
}

}  // namespace

TEST_CASE("a name of one program does not select another program at the same address") {
  const SymbolTable table = two_programs();
  const NameSelection brew = resolve(by_function("brew"), table);
  CHECK(selects_code(brew, instruction_at(0x110, kTeaPages)));
  CHECK_FALSE(selects_code(brew, instruction_at(0x110, kCupPages)));
  CHECK_FALSE(selects_code(brew, instruction_at(0x180, kTeaPages)));
  CHECK_FALSE(selects_code(brew, instruction_at(0xfc, kTeaPages)));
  const NameSelection common = resolve(by_function("common"), table);
  CHECK(selects_code(common, instruction_at(0x180, kTeaPages)));
  CHECK(selects_code(common, instruction_at(0x180, kCupPages)));
  const NameSelection both = resolve(by_function("brew..common"), table);
  CHECK(selects_code(both, instruction_at(0x180, kTeaPages)));
  CHECK_FALSE(selects_code(both, instruction_at(0x180, kCupPages)));
}

TEST_CASE("a range of functions stays in one program") {
  SymbolTable table;
  PageOwners pages;
  add_program(table, pages, "tea", kTeaPages, "brew", "pot");
  table.add({.address = 0xc000000000001000, .size_bytes = 0x100, .name = "schedule"});
  pages.finish();
  table.set_pages(std::move(pages));
  table.finish();
  CHECK(
      selects_code(resolve(by_function("brew..common"), table), instruction_at(0x180, kTeaPages)));
  CHECK_THROWS_AS(resolve(by_function("brew..schedule"), table), Error);
  CHECK_THROWS_AS(resolve(by_function("common..brew"), table), Error);
}

TEST_CASE("a file selects the code of its own pages") {
  const SymbolTable table = two_programs();
  NameOptions options;
  options.files = {"/usr/bin/cup"};
  const NameSelection cup = resolve(options, table);
  CHECK(selects_code(cup, instruction_at(0x110, kCupPages)));
  CHECK(selects_code(cup, instruction_at(0x1f00, kCupPages)));
  CHECK_FALSE(selects_code(cup, instruction_at(0x110, kTeaPages)));
  // Both options must match.
  options.functions = {"brew"};
  CHECK_FALSE(selects_code(resolve(options, table), instruction_at(0x110, kCupPages)));
}

TEST_CASE("a whole path selects only this file, also without pages") {
  SymbolTable table;
  for (const uint64_t begin : {kBegin, 2 * kBegin}) {
    table.begin_program({.file = "prog",
                         .path = begin == kBegin ? "/old/prog" : "/new/prog",
                         .begin = begin,
                         .end = begin + 0x1000,
                         .loads = {},
                         .texts = {{.address = begin, .words = {0}}}});
    table.add({.address = begin, .size_bytes = 4, .name = "work"});
  }
  table.finish();
  NameOptions options;
  options.files = {"/new/prog"};
  const NameSelection selection = resolve(options, table);
  Instruction instruction;
  instruction.has_ea = instruction.has_opcode = true;
  instruction.modes = {.bits = Modes::kPr, .known = Modes::kPr | Modes::kHv};
  instruction.ea = {kBegin};
  CHECK_FALSE(selects_code(selection, instruction));
  instruction.ea = {2 * kBegin};
  CHECK(selects_code(selection, instruction));
}

TEST_CASE("an object selects the accesses of its own program") {
  const SymbolTable table = two_programs();
  NameOptions options;
  options.objects = {"pot"};
  const NameSelection pot = resolve(options, table);
  Instruction instruction = instruction_at(0x110, kTeaPages);
  instruction.add_data({kBegin + 0xfff8});
  instruction.add_data({kBegin + 0x10008});
  CHECK(NameSelector(pot).match(instruction).data == 2);
  CHECK(NameSelector(pot).match(instruction).code);
  instruction.la = {kCupPages + 0x110};
  CHECK(NameSelector(pot).match(instruction).data == 0);
}

TEST_CASE("a nested symbol takes its bytes from the outer symbol") {
  SymbolTable table;
  table.add({.address = 0xc000000000001000, .size_bytes = 0x100, .name = "outer"});
  table.add({.address = 0xc000000000001040, .size_bytes = 0x10, .name = "inner"});
  table.add({.address = 0xc000000000001040, .size_bytes = 0x10, .name = "other_name_of_inner"});
  table.add({.address = 0xc000000000001080, .name = "label"});
  table.finish();
  const auto at = [](uint64_t offset) {
    Instruction instruction;
    instruction.ea = {0xc000000000001000 + offset};
    instruction.has_ea = true;
    return instruction;
  };
  const NameSelection outer = resolve(by_function("outer"), table);
  CHECK(selects_code(outer, at(0)));
  CHECK_FALSE(selects_code(outer, at(0x44)));
  CHECK(selects_code(outer, at(0x50)));
  // The address that the user names, whatever symbol names it.
  CHECK(selects_code(resolve(by_function("outer+44"), table), at(0x44)));
  CHECK(selects_code(resolve(by_function("outer+0x50"), table), at(0x50)));
  CHECK(selects_code(resolve(by_function("other_name_of_inner"), table), at(0x44)));
  CHECK_FALSE(selects_code(resolve(by_function("other_name_of_inner"), table), at(0x50)));
  // A label without bytes of its own is the instruction there.
  CHECK(selects_code(resolve(by_function("label"), table), at(0x80)));
  CHECK_FALSE(selects_code(resolve(by_function("label"), table), at(0x84)));
  CHECK(selects_code(resolve(by_function("label+8"), table), at(0x88)));
  CHECK_THROWS_AS(resolve(by_function("outer+100"), table), Error);
  CHECK_THROWS_AS(resolve(by_function("outer+"), table), Error);
}

}  // namespace htmtrace
