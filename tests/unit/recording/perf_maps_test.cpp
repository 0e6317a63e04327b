// SPDX-License-Identifier: GPL-2.0-or-later
// The mappings of perf.data files.
#include "output/export/perf_maps.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "output/symbols/page_names.h"

namespace htmtrace {
namespace {

constexpr const char* kPagesOfTool =
    "# pid 70 1 1 tool\n"
    "10000-20000 r-xp 00000000 08:01 5 /bin/tool\n"
    "20000-30000 rw-p 00010000 08:01 5 /bin/tool\n"
    "30000-40000 r-xp 00000000 08:01 6 /lib/other.so\n"
    "40000-50000 r-xp 00000000 00:00 0 [vdso]\n"
    "50000-60000 rwxp 00000000 00:00 0 \n"
    "60000-70000 rw-p 00000000 00:00 0 [heap]\n";

// The files of the mappings, if htmtrace read this program.
std::string files_of_mappings(SymbolTable::Program program) {
  SymbolTable symbols;
  program.begin = 0x10000;
  program.end = 0x20000;
  program.build_id = "ID";
  symbols.begin_program(std::move(program));
  symbols.end_program();
  PageNames names(symbols);
  CHECK(names.add_file(kPagesOfTool) == 0);
  symbols.set_pages(names.take_owners());
  symbols.finish();
  const PerfMaps maps = PerfMaps::of(symbols, names.processes());
  REQUIRE(maps.processes.size() == 1);
  std::string text;
  for (const PerfMaps::Mapping& mapping : maps.processes[0].mappings) {
    const PerfMaps::File& file = maps.files[mapping.file];
    text += fmt::format("{:x} {} {}\n", mapping.address, file.path, file.build_id);
  }
  return text;
}

}  // namespace

TEST_CASE("perf maps: perf must not take names from files that htmtrace did not read") {
  const std::string wanted =
      "10000 /copies/tool ID\n"
      "20000 /copies/tool ID\n"
      "30000 /lib/other.so? \n"
      "40000 [vdso]? \n"
      "50000 //anon \n"
      "60000 [heap] \n";
  CHECK(files_of_mappings({.file = "tool",
                           .path = "/bin/tool",
                           .source = "/copies/tool",
                           .inode = 5,
                           .loads = {},
                           .texts = {}}) == wanted);
  // --elf, without a line in htm.maps
  CHECK(files_of_mappings({.file = "tool", .source = "/copies/tool", .loads = {}, .texts = {}}) ==
        wanted);
  // Another version of the file.
  CHECK(files_of_mappings({.file = "tool",
                           .path = "/bin/tool",
                           .source = "/bin/tool",
                           .inode = 4,
                           .loads = {},
                           .texts = {}})
            .starts_with("10000 /bin/tool? \n"));
}

TEST_CASE("perf maps: the kernel and its modules") {
  SymbolTable symbols;
  const auto add = [&](uint64_t address, const char* name) {
    symbols.add({.address = address, .name = name, .section = SymbolTable::Section::kCode});
  };
  add(0xc000000000000000, "_text");
  add(0xc000000000000200, "_stext");
  add(0xc000000000123456, "last");
  add(0xc008000000050010, "init [htm]");
  add(0xc008000000050100, "exit [htm]");
  symbols.finish();
  const PerfMaps maps = PerfMaps::of(symbols, {});
  REQUIRE(maps.kernel.size() == 2);
  CHECK(maps.kernel[0].name == "[kernel.kallsyms]_text");
  CHECK(maps.kernel[0].begin == 0xc000000000000000);
  CHECK(maps.kernel[0].end == 0xc000000000140000);
  CHECK(maps.kernel[0].reference == 0xc000000000000000);
  CHECK(maps.kernel[1].name == "[htm]");
  CHECK(maps.kernel[1].begin == 0xc008000000050000);
  CHECK(maps.kernel[1].end == 0xc008000000070000);

  const PerfMaps known = PerfMaps::of(symbols, {}, "build");
  CHECK(known.kernel[0].build_id == "build");
  CHECK(known.kernel[1].build_id.empty());
  // perf supports build IDs of at most 20 bytes.
  CHECK(PerfMaps::of(symbols, {}, std::string(21, 'x')).kernel[0].build_id.empty());
}

}  // namespace htmtrace
