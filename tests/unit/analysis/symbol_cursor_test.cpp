// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which program owns an address, and by which proof.
#include "core/analysis/symbol_cursor.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "output/symbols/page_names.h"
#include "tests/damage/time_limit.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

using SymbolKind = SymbolTable::Kind;

constexpr uint32_t kFileWord = 0x60000000;
constexpr uint16_t kUserBit = Modes::kPr;
constexpr uint16_t kPrivilegeBits = Modes::kPr | Modes::kHv;

Instruction fetched_at(uint64_t ea, std::optional<uint64_t> la, uint32_t opcode = kFileWord) {
  Instruction instruction;
  instruction.ea = {ea};
  instruction.has_ea = true;
  instruction.opcode = opcode;
  instruction.has_opcode = true;
  instruction.la = {la.value_or(0)};
  instruction.has_la = la.has_value();
  instruction.modes = {.bits = kUserBit, .known = kPrivilegeBits};
  return instruction;
}

DataAccess access_to(uint64_t ea, uint64_t la) {
  DataAccess access;
  access.ea = {ea};
  access.la = {la};
  access.has_la = true;
  return access;
}

// A program with code at 0x10000000 and an array at 0x10020000.
void add_program(SymbolTable& table, const std::string& path = {}, bool may_guess_data = true) {
  table.begin_program(
      {.file = "prog",
       .path = path,
       .is_main = true,
       .may_guess_data = may_guess_data,
       .begin = 0x10000000,
       .end = 0x10030000,
       .loads = {{.address = 0x10000000, .offset = 0, .size_bytes = 0x30000}},
       .texts = {{.address = 0x10000000, .words = {kFileWord, kFileWord, kFileWord, kFileWord}}}});
  table.add({.address = 0x10000000, .size_bytes = 0x10, .name = "work"});
  table.add(
      {.address = 0x10020000, .size_bytes = 0x10000, .name = "array", .kind = SymbolKind::kObject});
  table.end_program();
}

// Another program with code at the same address.
void add_program_at(SymbolTable& table, const std::string& path, uint64_t inode,
                    const char* function) {
  table.begin_program({.file = path.substr(path.rfind('/') + 1),
                       .path = path,
                       .inode = inode,
                       .is_main = true,
                       .begin = 0x10000000,
                       .end = 0x10030000,
                       .loads = {{.address = 0x10000000, .offset = 0, .size_bytes = 0x30000}},
                       .texts = {}});
  table.add({.address = 0x10000000, .size_bytes = 0x10, .name = function});
}

// The pages of a recording: pages of the program and of a shell, and the code of both files.
constexpr const char* kPages =
    "# pid 20 700 50 prog\n"
    "10000000-10010000 r-xp 00000000 00:01 5 /bin/prog\n"
    " 10000000 50000 10000\n"
    "10020000-10030000 rw-p 00010000 00:01 5 /bin/prog\n"
    " 10020000 70000 1000\n"
    "# pid 21 800 50 sh\n"
    "10000000-10010000 r-xp 00000000 00:01 6 /bin/sh\n"
    " 10000000 90000 10000\n"
    "# pid 0 0 0 [files]\n"
    "0-10000 r-xp 00000000 00:01 5 /bin/prog\n"
    " 0 50000 10000\n";

SymbolTable recorded_program(const char* pages) {
  SymbolTable table;
  add_program(table);
  const SymbolTable none;
  PageNames names(none);
  CHECK(names.add_file(pages) == 0);
  table.set_pages(names.take_owners());
  table.finish();
  return table;
}

std::string code_name(const SymbolTable& table, SymbolCursor& cursor,
                      const Instruction& instruction) {
  const EffectiveAddr address = cursor.code(instruction);
  const SymbolTable::Symbol* symbol = table.find_code(address);
  return symbol == nullptr ? "" : symbol_text(*symbol, address.value);
}

std::string data_name(const SymbolTable& table, SymbolCursor& cursor, const DataAccess& access) {
  const EffectiveAddr address = cursor.data(access);
  const SymbolTable::Symbol* symbol = table.find(address);
  return symbol == nullptr ? "" : symbol_text(*symbol, address.value);
}

}  // namespace

TEST_CASE("pages prove to which program code and data belong") {
  const SymbolTable table = recorded_program(kPages);
  SymbolCursor cursor(table);
  CHECK(code_name(table, cursor, fetched_at(0x10000004, 0x50004)) == "work+0x4");
  // The program's own code accesses only its own memory, wherever the page is.
  CHECK(data_name(table, cursor, access_to(0x10020010, 0xdead010)) == "array+0x10");
  CHECK(data_name(table, cursor, access_to(0x20000000, 0x1000)).empty());
  // The shell's code at the same address, and its data.
  CHECK(code_name(table, cursor, fetched_at(0x10000004, 0x90004)).empty());
  CHECK(data_name(table, cursor, access_to(0x10020010, 0xdead010)).empty());
  // A program with the same words that the recorder did not see.
  CHECK(code_name(table, cursor, fetched_at(0x10000008, 0xabc008)).empty());
  CHECK(data_name(table, cursor, access_to(0x10020010, 0xdead010)).empty());
}

TEST_CASE("a cursor forgets the pages of another recording") {
  SymbolTable table = recorded_program(kPages);
  SymbolCursor cursor(table);
  const Instruction work = fetched_at(0x10000004, 0x50004);
  CHECK(code_name(table, cursor, work) == "work+0x4");
  // In another recording, this page is that of another file.
  const SymbolTable none;
  PageNames others(none);
  CHECK(others.add_file("# pid 20 700 50 cup\n"
                        "10000000-10010000 r-xp 00000000 00:01 9 /bin/cup\n"
                        " 10000000 50000 10000\n") == 0);
  table.set_pages(others.take_owners());
  CHECK(code_name(table, cursor, work).empty());
  CHECK(data_name(table, cursor, access_to(0x10020010, 0x70010)).empty());
  // A recording without pages proves nothing.
  table.set_pages({});
  CHECK(code_name(table, cursor, work) == "work+0x4?");
  PageNames names(none);
  CHECK(names.add_file(kPages) == 0);
  table.set_pages(names.take_owners());
  CHECK(code_name(table, cursor, work) == "work+0x4");
}

TEST_CASE("data that the kernel accesses belongs to the program that owns the page") {
  const SymbolTable table = recorded_program(kPages);
  SymbolCursor cursor(table);
  Instruction instruction = fetched_at(0xc000000000001000, 0x1000);
  instruction.modes = {.bits = 0, .known = kPrivilegeBits};
  CHECK(code_name(table, cursor, instruction).empty());
  CHECK(data_name(table, cursor, access_to(0x10020010, 0x70010)) == "array+0x10");
  // The owner of an unrecorded page is unknown.
  CHECK(data_name(table, cursor, access_to(0x10020010, 0x80010)) == "array+0x10?");
  // A page that has moved to another address proves nothing.
  CHECK(data_name(table, cursor, access_to(0x10021010, 0x70010)) == "array+0x1010?");
}

TEST_CASE("without recorded pages names are marked, and different words disprove them") {
  SymbolTable table;
  add_program(table);
  table.finish();
  SymbolCursor cursor(table);
  CHECK(code_name(table, cursor, fetched_at(0x10000004, 0x50004)) == "work+0x4?");
  CHECK(data_name(table, cursor, access_to(0x10020010, 0x1010)) == "array+0x10?");
  CHECK(code_name(table, cursor, fetched_at(0x10000004, 0x50004, 0x38600000)).empty());
  CHECK(code_name(table, cursor, fetched_at(0x10000004, std::nullopt)) == "work+0x4?");
  Instruction kernel = fetched_at(0x10000004, 0x50004);
  kernel.modes = {.bits = 0, .known = kPrivilegeBits};
  CHECK(code_name(table, cursor, kernel).empty());
}

TEST_CASE("pages distinguish two programs at one address") {
  SymbolTable table;
  add_program(table);
  add_program_at(table, "/bin/sh", 6, "shell");
  const SymbolTable none;
  PageNames names(none);
  names.add_file(kPages);
  table.set_pages(names.take_owners());
  table.finish();
  SymbolCursor cursor(table);
  CHECK(code_name(table, cursor, fetched_at(0x10000004, 0x50004)) == "work+0x4");
  CHECK(code_name(table, cursor, fetched_at(0x10000004, 0x90004)) == "shell+0x4");
}

TEST_CASE("files with the same name in different folders are different files") {
  SymbolTable table;
  add_program_at(table, "/old/prog", 0, "old");
  add_program_at(table, "/new/prog", 0, "fresh");
  add_program(table);  // a file of this name in either folder
  const SymbolTable none;
  PageNames names(none);
  names.add_file(
      "# pid 0 0 0 [files]\n"
      "0-10000 r-xp 00000000 00:01 5 /new/prog\n"
      " 0 50000 10000\n"
      "0-10000 r-xp 00000000 00:01 6 /old/prog\n"
      " 0 90000 10000\n");
  table.set_pages(names.take_owners());
  table.finish();
  CHECK(table.programs()[2].number == PageOwners::kNone);
  SymbolCursor cursor(table);
  CHECK(code_name(table, cursor, fetched_at(0x10000004, 0x50004)) == "fresh+0x4");
  CHECK(code_name(table, cursor, fetched_at(0x10000004, 0x90004)) == "old+0x4");
}

TEST_CASE("pages of a file that was replaced do not prove names of the new file") {
  const auto name_of_page = [](uint64_t inode, uint64_t la) {
    SymbolTable table;
    add_program_at(table, "/bin/prog", inode, "work");
    const SymbolTable none;
    PageNames names(none);
    names.add_file(
        "# pid 20 700 50 prog\n"
        "10000000-10010000 r-xp 00000000 00:01 5 /bin/prog\n"
        " 10000000 50000 10000\n"
        "# pid 21 800 50 prog\n"
        "10000000-10010000 r-xp 00000000 00:01 6 /bin/prog\n"
        " 10000000 90000 10000\n");
    table.set_pages(names.take_owners());
    table.finish();
    SymbolCursor cursor(table);
    return code_name(table, cursor, fetched_at(0x10000004, la));
  };
  CHECK(name_of_page(5, 0x50004) == "work+0x4");
  CHECK(name_of_page(5, 0x90004).empty());
  CHECK(name_of_page(6, 0x50004).empty());
  CHECK(name_of_page(6, 0x90004) == "work+0x4");
  // Without an inode, the file is one of several.
  CHECK(name_of_page(0, 0x50004).empty());
}

TEST_CASE("without proof, an address that several programs have gets no name") {
  SymbolTable table;
  add_program(table);
  add_program(table);
  table.finish();
  SymbolCursor cursor(table);
  CHECK(code_name(table, cursor, fetched_at(0x10000004, 0x50004)).empty());
  CHECK(data_name(table, cursor, access_to(0x10020010, 0x1010)).empty());
}

// The cursor may look up the words of whole pages at once.
TEST_CASE("without recorded pages, each word is compared with all programs that may have it") {
  size_t owned_count = 0, foreign_count = 0;
  for (uint64_t seed = 0; seed < rounds(200); seed++) {
    INFO("seed ", seed);
    generator::Random random(seed);
    SymbolTable table;
    const size_t programs = 1 + random.below(3);
    for (size_t i = 0; i < programs; i++) {
      const uint64_t begin = 0x10000000 + 0x1000 * random.below(8);
      std::vector<uint32_t> words(1 + random.below(6000));
      for (uint32_t& word : words) word = kFileWord + static_cast<uint32_t>(random.below(2));
      const uint64_t bytes = 4 * words.size();
      table.begin_program({.file = fmt::format("prog{}", i),
                           .is_main = true,
                           .begin = begin,
                           .end = begin + bytes + 4 * random.below(600),
                           .loads = {{.address = begin, .offset = 0, .size_bytes = bytes}},
                           .texts = {{.address = begin, .words = words}}});
      table.end_program();
    }
    table.finish();
    SymbolCursor cursor(table);
    for (int i = 0; i < 2000; i++) {
      const uint64_t ea = 0x10000000 + 4 * random.below(0x4000);
      Instruction instruction = fetched_at(ea, std::nullopt, kFileWord + (i & 1));
      instruction.has_opcode = !random.chance(20);
      instruction.has_prefix = instruction.has_opcode && random.chance(100);
      instruction.prefix = kFileWord;
      uint64_t expected = owned::kForeign;
      size_t possible = 0;
      for (size_t number = 0; number < programs; number++) {
        const SymbolTable::Program& program = table.programs()[number];
        if (!program.holds(ea)) continue;
        if (instruction.has_prefix && !program.has_word(ea, instruction.prefix)) continue;
        const uint64_t at = ea + (instruction.has_prefix ? 4 : 0);
        if (instruction.has_opcode && !program.has_word(at, instruction.opcode)) continue;
        expected = owned::of_program(number, false);
        possible++;
      }
      if (possible > 1) expected = owned::kForeign;
      REQUIRE(owned::owner(cursor.code(instruction).value) == expected);
      (expected == owned::kForeign ? foreign_count : owned_count)++;
    }
  }
  CHECK(owned_count > rounds(1000));
  CHECK(foreign_count > rounds(1000));
}

TEST_CASE("a program that may not guess names data only with proof") {
  SymbolTable table;
  add_program(table, "/bin/prog", /*may_guess_data=*/false);
  const SymbolTable none;
  PageNames names(none);
  names.add_file("# pid 0 0 0 [files]\n0-10000 r-xp 00000000 00:01 5 /bin/prog\n 0 50000 10000\n");
  table.set_pages(names.take_owners());
  table.finish();
  SymbolCursor cursor(table);
  Instruction kernel = fetched_at(0xc000000000001000, 0x1000);
  kernel.modes = {.bits = 0, .known = kPrivilegeBits};
  CHECK(code_name(table, cursor, kernel).empty());
  CHECK(data_name(table, cursor, access_to(0x10020010, 0x80010)).empty());
  CHECK(code_name(table, cursor, fetched_at(0x10000004, 0x50004)) == "work+0x4");
  CHECK(data_name(table, cursor, access_to(0x10020010, 0x80010)) == "array+0x10");
}

TEST_CASE("many processes with the same libraries cost no time for each page") {
  std::string pages;
  for (int process = 0; process < 10000; process++) {
    pages += "# pid " + std::to_string(process + 1) + " 10 10 cc\n";
    for (int library = 0; library < 5; library++) {
      pages += fmt::format(
          "7fff0{0}000000-7fff0{0}010000 r-xp 00000000 00:01 9{0} /lib/{0}\n"
          " 7fff0{0}000000 9{0}0000 10000\n",
          library);
    }
  }
  pages += kPages;
  const TimeLimit limit;
  const SymbolTable table = recorded_program(pages.c_str());
  SymbolCursor cursor(table);
  for (uint64_t i = 0; i < 10000; i++) {
    const uint64_t ea = 0x7fff00000000 + i % 5 * 0x1000000 + i % 16 * 0x1000;
    CHECK(code_name(table, cursor, fetched_at(ea, 0x900000 + i % 5 * 0x10000 + i % 16 * 0x1000))
              .empty());
  }
  CHECK(code_name(table, cursor, fetched_at(0x10000004, 0x50004)) == "work+0x4");
}

TEST_CASE("files with many mappings are found again") {
  std::string pages = "# pid 1 10 10 prog\n";
  for (int file = 0; file < 100000; file++) {
    pages += "0-1 r-xp 0 00:01 1 /f" + std::to_string(file) + "\n";
  }
  pages += "# pid 0 0 0 [files]\n";
  for (int file = 0; file < 100000; file++) {
    pages += "0-1 r-xp 0 00:01 1 /f" + std::to_string(file) + "\n";
  }
  const TimeLimit limit;
  const SymbolTable none;
  PageNames names(none);
  CHECK(names.add_file(pages) == 0);
  const PageOwners owners = names.take_owners();
  for (int file = 0; file < 100000; file++) {
    const uint32_t number = owners.number_of("/f" + std::to_string(file), 1);
    CHECK((owners.has_mapped(0, number) && owners.is_listed(number)));
  }
}

}  // namespace htmtrace
