// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which symbol names an address.
#include "core/analysis/symbol_table.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "output/symbols/kallsyms.h"
#include "output/symbols/mapping_names.h"
#include "output/symbols/page_names.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/analysis/hot_spots.h"

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

}  // namespace

TEST_CASE("kernel symbols") {
  const SymbolTable table = kernel_symbols();
  CHECK(symbol_at(table, 0xc000000000010000) == "start");
  CHECK(symbol_at(table, 0xc0000000000100ff) == "start+0xff");
  CHECK(symbol_at(table, 0xc000000000010104) == "helper+0x4");
  CHECK(symbol_at(table, 0xc008000000000004) == "work [module]+0x4");
  CHECK(symbol_at(table, 0xc00000000000fffc).empty());
  CHECK(symbol_at(table, 0xc000000000010100 + SymbolTable::kMostBytes).empty());
  // Data symbols do not name code.
  CHECK(symbol_at(table, 0xc000000001000008) == "hammered+0x8");
  CHECK(table.find_code({0xc000000001000008}) == nullptr);
  CHECK(table.find_code({0xc000000000010104}) != nullptr);
  SymbolTable hidden;
  CHECK(add_kallsyms("0000000000000000 T start\n", hidden).hidden == 1);
  CHECK(hidden.empty());
}

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

TEST_CASE("a gap around an address without an owner holds no address with an owner") {
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
  const uint64_t owned_work = owned::with(0x10000000, owned::of_program(0, true));
  for (const uint64_t address : {uint64_t{0xc000000000010000}, uint64_t{0x100}}) {
    const SymbolTable::Span span = table.span_of({address});
    CHECK(span.symbol == nullptr);
    CHECK(span.holds(address));
    CHECK(!span.holds(owned_work));
    CHECK(!span.holds(0x10000000));
  }
  CHECK(table.span_of({owned_work}).symbol != nullptr);
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

TEST_CASE("only symbols that two kernels have in common give names") {
  const auto common = [](const char* first, const char* second, bool differs) {
    SymbolTable table, other;
    add_kallsyms(first, table);
    add_kallsyms(second, other);
    CHECK(table.keep_common(other) == differs);
    table.finish();
    return table;
  };
  const char* const kernel =
      "c000000000001000 T start\n"
      "c000000000002000 T work\n"
      "c000000000002000 T work_alias\n"
      "c000000000003000 T moved\n"
      "c000000000004000 T last\n"
      "c000000000005000 T _end\n";
  SymbolTable table = common(kernel, kernel, false);
  CHECK(symbol_at(table, 0xc000000000003004) == "moved+0x4");
  CHECK(symbol_at(table, 0xc000000000005004).empty());
  const char* const later =
      "c000000000004000 T last\n"
      "c000000000001000 T start\n"
      "c000000000002000 T work\n"
      "c000000000003100 T moved\n"
      "c000000000004100 T added\n"
      "c000000000005000 T _end\n";
  for (const bool reverse : {false, true}) {
    table = reverse ? common(later, kernel, true) : common(kernel, later, true);
    CHECK(symbol_at(table, 0xc000000000001004) == "start+0x4");
    CHECK(symbol_at(table, 0xc000000000002004) == "work+0x4");
    // Each of these addresses has another name in one of the kernels.
    for (const uint64_t address : {0xc000000000003004, 0xc000000000003104, 0xc000000000004104}) {
      CHECK(symbol_at(table, address).empty());
    }
    CHECK(symbol_at(table, 0xc0000000000040fc) == "last+0xfc");
    CHECK(symbol_at(table, 0xc000000000005004).empty());
  }
  // The same name, but for data.
  const char* const data = "c000000000001000 D start\nc000000000002000 T work\n";
  for (const bool reverse : {false, true}) {
    table = reverse ? common(data, kernel, true) : common(kernel, data, true);
    CHECK(symbol_at(table, 0xc000000000001004).empty());
    CHECK(symbol_at(table, 0xc000000000002004) == "work+0x4");
  }
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

TEST_CASE("names of strangers do not control the terminal") {
  SymbolTable table;
  table.add({.address = 0x1000, .size_bytes = 16, .name = "a\x1b]0;title\x07"});
  table.add({.address = 0x2000,
             .size_bytes = 16,
             .name = "b\xc2\x9b"
                     "1m"});
  table.add({.address = 0x3000, .size_bytes = 16, .name = "na\xc3\xafve"});
  // Text output omits blanks, so the bytes around them must not form a control character.
  table.add({.address = 0x4000,
             .size_bytes = 16,
             .name = "c\xc2  \x9b"
                     "1m"});
  table.add({.address = 0x5000, .size_bytes = 16, .name = "na\xc3\xafve [module]"});
  table.finish();
  CHECK(table.find({0x1000})->name == "a\\x1b]0;title\\x07");
  CHECK(table.find({0x2000})->name == "b\\xc2\\x9b1m");
  CHECK(table.find({0x3000})->name == "na\xc3\xafve");
  CHECK(table.find({0x4000})->name == "c\\xc2\\x9b1m");
  CHECK(table.find({0x5000})->name == "na\xc3\xafve [module]");

  const std::string pages =
      "# pid 7 10 10 e\x1bvil\n10000000-10010000 r-xp 0 00:01 1 /tmp/\x1bprog\n5 10000000 1 0\n";
  PageNames names(table);
  names.add_file(pages);
  CHECK(names.processes().front().command == "e\\x1bvil");
}

}  // namespace htmtrace
