// SPDX-License-Identifier: GPL-2.0-or-later
// Program files that a stranger's recording lists: which of them are read, and how often.
#include "cli/traces/program_files.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "tests/damage/time_limit.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

constexpr size_t kHeaderBytes = 20;

// The begin of a program for POWER.
std::string header() {
  std::string text(kHeaderBytes, '\0');
  std::memcpy(text.data(), ELFMAG, SELFMAG);
  text[EI_CLASS] = ELFCLASS64;
  text[EI_DATA] = ELFDATA2LSB;
  text[18] = EM_PPC64;
  return text;
}

ProgramMaps::File recorded(const std::string& path, FileContent content, uint64_t inode = 1) {
  return {.path = path,
          .inode = inode,
          .content = content,
          .mappings = {{.path = path,
                        .inode = inode,
                        .address = 0x10000,
                        .bytes = 0x10000,
                        .permissions = "r-xp"}}};
}

}  // namespace

// The kernel states no size for files of /proc and tracefs, whose reads can have effects.
TEST_CASE("a recording makes readable only programs of the recorded size") {
  const TemporaryFolder folder;
  folder.write("program", header());
  folder.write("text", std::string(kHeaderBytes, 'x'));
  const std::string program = (folder.path() / "program").string();
  const std::string text = (folder.path() / "text").string();
  ProgramMaps maps;
  maps.files = {recorded(program, {.size_bytes = kHeaderBytes}),
                recorded(program, {.size_bytes = kHeaderBytes + 1}),
                recorded(text, {.size_bytes = kHeaderBytes}),
                recorded("/proc/version", {.size_bytes = 0})};
  CHECK(usable_files(maps) == std::vector<std::string>{program});
}

TEST_CASE("a file that is listed many times is read once") {
  const TemporaryFolder folder;
  folder.write("program", header());
  const std::string program = (folder.path() / "program").string();
  constexpr uint64_t kBytes = 8 << 20;
  std::filesystem::resize_file(program, kBytes);
  ProgramMaps maps;
  for (uint64_t inode = 1; inode <= 2000; inode++) {
    maps.files.push_back(recorded(program, {.size_bytes = kBytes, .crc32c = 1}, inode));
  }
  const TimeLimit limit;
  SymbolTable table;
  add_recorded_files(maps, {}, table);
  CHECK(table.programs().empty());
}

}  // namespace htmtrace
