// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which symbol names an address, and which program owns an address.
#include "core/analysis/symbol_table.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <optional>
#include <vector>

#include "core/analysis/symbol_cursor.h"
#include "output/symbols/kallsyms.h"
#include "output/symbols/mapping_names.h"
#include "output/symbols/page_names.h"
#include "tests/damage/time_limit.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace {
namespace {

using SymbolKind = SymbolTable::Kind;
using SymbolBinding = SymbolTable::Binding;

std::string symbol_at(const SymbolTable& table, uint64_t address) {
  const SymbolTable::Symbol* symbol = table.find({address});
  return symbol == nullptr ? "" : symbol_text(*symbol, address);
}

// Finds a symbol with a slow method. Among all symbols with a size that contain the address,
// returns the last to begin, then the smallest.
const SymbolTable::Symbol* slow_find(const std::vector<SymbolTable::Symbol>& symbols,
                                     uint64_t address) {
  const SymbolTable::Symbol* best = nullptr;
  for (const SymbolTable::Symbol& symbol : symbols) {
    if (symbol.size_bytes == 0 || address - symbol.address >= symbol.size_bytes) continue;
    if (best == nullptr || symbol.address > best->address ||
        (symbol.address == best->address && symbol.size_bytes < best->size_bytes)) {
      best = &symbol;
    }
  }
  return best;
}

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
void add_program(SymbolTable& table) {
  table.begin_program(
      {.file = "prog",
       .is_main = true,
       .begin = 0x10000000,
       .end = 0x10030000,
       .loads = {{.address = 0x10000000, .offset = 0, .size_bytes = 0x30000}},
       .texts = {{.address = 0x10000000, .words = {kFileWord, kFileWord, kFileWord, kFileWord}}}});
  table.add({.address = 0x10000000, .size_bytes = 0x10, .name = "work"});
  table.add(
      {.address = 0x10020000, .size_bytes = 0x10000, .name = "array", .kind = SymbolKind::kObject});
  table.end_program();
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
  return symbol_at(table, cursor.data(access).value);
}

}  // namespace

TEST_CASE("a symbol with a size names all its bytes, and labels within it name none") {
  SymbolTable table;
  table.add(
      {.address = 0x1000, .size_bytes = 0x40000, .name = "array", .kind = SymbolKind::kObject});
  table.add({.address = 0x8000, .name = "label", .kind = SymbolKind::kUntyped});
  table.add({.address = 0x41000, .name = "next", .kind = SymbolKind::kUntyped, .limit = 0x41100});
  table.add({.address = 0x50000, .name = ""});
  table.add({.address = 0x4ff00, .name = "before_an_end"});
  table.finish();
  CHECK(symbol_at(table, 0x1000) == "array");
  CHECK(symbol_at(table, 0x8000) == "array+0x7000");
  CHECK(symbol_at(table, 0x40fff) == "array+0x3ffff");
  CHECK(symbol_at(table, 0x41000) == "next");
  CHECK(symbol_at(table, 0x410ff) == "next+0xff");
  CHECK(symbol_at(table, 0x41100).empty());
  CHECK(symbol_at(table, 0x4ffff) == "before_an_end+0xff");
  CHECK(symbol_at(table, 0x50000).empty());
  CHECK(symbol_at(table, 0xfff).empty());
}

TEST_CASE("the innermost of nested symbols names an address, and after its end the outer symbol") {
  SymbolTable table;
  table.add({.address = 0x1000, .size_bytes = 0x100, .name = "outer"});
  table.add({.address = 0x1040, .size_bytes = 0x20, .name = "inner"});
  table.add({.address = 0x10f0, .size_bytes = 0x20, .name = "overlap"});
  table.finish();
  CHECK(symbol_at(table, 0x103f) == "outer+0x3f");
  CHECK(symbol_at(table, 0x1040) == "inner");
  CHECK(symbol_at(table, 0x1060) == "outer+0x60");
  CHECK(symbol_at(table, 0x10f0) == "overlap");
  CHECK(symbol_at(table, 0x110f) == "overlap+0x1f");
  CHECK(symbol_at(table, 0x1110).empty());
  // All addresses of a function have one key, on both sides of a nested symbol.
  const uint64_t before = symbol_key(table.span_of({0x1000}), {0x1000});
  CHECK(symbol_key(table.span_of({0x1070}), {0x1070}) == before);
  CHECK(symbol_key(table.span_of({0x1040}), {0x1040}) != before);
}

TEST_CASE("the same bytes have the global name, then the typed name, then the first by name") {
  SymbolTable table;
  table.add({.address = 0x1000, .size_bytes = 8, .name = "a", .binding = SymbolBinding::kLocal});
  table.add({.address = 0x1000, .size_bytes = 8, .name = "b", .binding = SymbolBinding::kWeak});
  table.add({.address = 0x1000, .size_bytes = 8, .name = "c", .kind = SymbolKind::kUntyped});
  table.add({.address = 0x1000, .size_bytes = 8, .name = "e"});
  table.add({.address = 0x1000, .size_bytes = 8, .name = "d"});
  table.add({.address = 0x1000, .size_bytes = 0, .name = "0"});
  table.finish();
  CHECK(symbol_at(table, 0x1000) == "d");
}

TEST_CASE("find() agrees with the slow method for random symbols") {
  generator::Random random(5);
  for (int round = 0; round < 200; round++) {
    std::vector<SymbolTable::Symbol> symbols;
    SymbolTable table;
    for (uint64_t i = 0, count = random.below(30); i < count; i++) {
      SymbolTable::Symbol symbol{.address = random.below(200),
                                 .size_bytes = 1 + random.below(60),
                                 .name = std::to_string(i)};
      symbols.push_back(symbol);
      table.add(symbol);
    }
    table.finish();
    for (uint64_t address = 0; address < 280; address++) {
      const SymbolTable::Symbol* right = slow_find(symbols, address);
      const SymbolTable::Span span = table.span_of({address});
      REQUIRE(span.holds(address));
      REQUIRE((span.symbol == nullptr) == (right == nullptr));
      if (right == nullptr) continue;
      REQUIRE(span.symbol->address == right->address);
      REQUIRE(span.symbol->size_bytes == right->size_bytes);
      REQUIRE(table.find({symbol_key(span, {address})}) == span.symbol);
    }
  }
}

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
  table.begin_program({.file = "sh",
                       .is_main = true,
                       .begin = 0x10000000,
                       .end = 0x10030000,
                       .loads = {{.address = 0x10000000, .offset = 0, .size_bytes = 0x30000}},
                       .texts = {}});
  table.add({.address = 0x10000000, .size_bytes = 0x10, .name = "shell"});
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
  const auto add = [&](const std::string& path, const char* name) {
    table.begin_program({.file = "prog",
                         .path = path,
                         .is_main = true,
                         .begin = 0x10000000,
                         .end = 0x10030000,
                         .loads = {{.address = 0x10000000, .offset = 0, .size_bytes = 0x30000}},
                         .texts = {}});
    table.add({.address = 0x10000000, .size_bytes = 0x10, .name = name});
  };
  add("/old/prog", "old");
  add("/new/prog", "fresh");
  add("", "either");
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
    table.begin_program({.file = "prog",
                         .path = "/bin/prog",
                         .inode = inode,
                         .is_main = true,
                         .begin = 0x10000000,
                         .end = 0x10030000,
                         .loads = {{.address = 0x10000000, .offset = 0, .size_bytes = 0x30000}},
                         .texts = {}});
    table.add({.address = 0x10000000, .size_bytes = 0x10, .name = "work"});
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

TEST_CASE("a program that may not guess names data only with proof") {
  SymbolTable table;
  table.begin_program(
      {.file = "prog",
       .path = "/bin/prog",
       .is_main = true,
       .may_guess_data = false,
       .begin = 0x10000000,
       .end = 0x10030000,
       .loads = {{.address = 0x10000000, .offset = 0, .size_bytes = 0x30000}},
       .texts = {{.address = 0x10000000, .words = {kFileWord, kFileWord, kFileWord, kFileWord}}}});
  table.add({.address = 0x10000000, .size_bytes = 0x10, .name = "work"});
  table.add(
      {.address = 0x10020000, .size_bytes = 0x10000, .name = "array", .kind = SymbolKind::kObject});
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

TEST_CASE("data symbols of the kernel name no code, and end labels name no bytes") {
  SymbolTable table;
  add_kallsyms(
      "c000000000010000 T start\n"
      "c000000000010100 T _etext\n"
      "c000000000020000 d table\n",
      table);
  table.finish();
  CHECK(symbol_at(table, 0xc0000000000100ff) == "start+0xff");
  CHECK(symbol_at(table, 0xc000000000010100).empty());
  CHECK(symbol_at(table, 0xc000000000020008) == "table+0x8");
  CHECK(table.find_code({0xc000000000020008}) == nullptr);
}

TEST_CASE("addresses without a symbol are named by their mapping") {
  MappingNames names;
  CHECK(names.name(0x1000).empty());
  CHECK(names.name(0xc000000001234567) == "[kernel: linear map]");
  CHECK(names.name(0xc00800000f234567) == "[kernel: vmalloc]");
  names.add_file(
      "# maps of all processes when it ended\n"
      "# pid 1 2 sh\n"
      "10000000-10010000 r-xp 00000000 00:01 5 /bin/sh\n"
      "7fffff000000-7fffff010000 rw-p 00000000 00:00 0 [stack]\n"
      "# pid 2 3 prog\n"
      "10000000-10010000 r-xp 00000000 00:01 6 /bin/prog\n"
      "10020000-10030000 rw-p 00010000 00:01 6 /bin/prog\n"
      "20000000-20010000 rw-p 00000000 00:00 0 \n"
      "nonsense\n"
      "7ffffe000000-7ffffe010000 rw-p 00000000 00:00 0 [stack]\n");
  CHECK(names.name(0x10000010) == "[several mappings]");
  CHECK(names.name(0x10020010) == "prog");
  CHECK(names.name(0x20000010) == "[anonymous]");
  CHECK(names.name(0x7ffffeff0010) == "[stack]");
  CHECK(names.name(0x7ffffe000010) == "[stack]");
  CHECK(names.name(0x30000000) == "[no mapping]");
}

TEST_CASE("a list of executable mappings does not show that an address has no mapping") {
  MappingNames names;
  names.add_file(
      "# maps of the workload's processes\n"
      "# file 3 12345678 /bin/prog\n"
      "10000000-10010000 r-xp 00000000 00:01 6 /bin/prog\n");
  names.add_file(
      "# pages of 4096 bytes of the workload's processes\n"
      "# pid 0 0 0 [files]\n"
      "0-10000 r-xp 00000000 00:01 6 /bin/prog\n"
      " 0 50000 10000\n");
  CHECK(names.name(0x10000010) == "prog");
  CHECK(names.name(0x10020010).empty());
  CHECK(names.name(0x10).empty());  // an offset in a file is no address
  names.add_file("# pid 1 2 3 prog\n20000000-20010000 rw-p 00000000 00:00 0 [heap]\n");
  CHECK(names.name(0x10020010) == "[no mapping]");
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

TEST_CASE("names of strangers do not control the terminal") {
  SymbolTable table;
  table.add({.address = 0x1000, .size_bytes = 16, .name = "a\x1b]0;title\x07"});
  table.add({.address = 0x2000,
             .size_bytes = 16,
             .name = "b\xc2\x9b"
                     "1m"});
  table.add({.address = 0x3000, .size_bytes = 16, .name = "na\xc3\xafve"});
  table.finish();
  CHECK(table.find({0x1000})->name == "a\\x1b]0;title\\x07");
  CHECK(table.find({0x2000})->name == "b\\xc2\\x9b1m");
  CHECK(table.find({0x3000})->name == "na\xc3\xafve");

  const std::string pages =
      "# pid 7 10 10 e\x1bvil\n10000000-10010000 r-xp 0 00:01 1 /tmp/\x1bprog\n5 10000000 1 0\n";
  PageNames names(table);
  names.add_file(pages);
  CHECK(names.processes().front().command == "e\\x1bvil");
}

}  // namespace htmtrace
