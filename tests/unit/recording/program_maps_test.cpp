// SPDX-License-Identifier: GPL-2.0-or-later
// The list of the code that a workload mapped: written, and read from any text.
#include "output/symbols/program_maps.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <time.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

CodeMapping mapping_of(const std::filesystem::path& path, uint64_t address, uint64_t offset = 0) {
  struct stat facts {};
  ::stat(path.c_str(), &facts);
  return {.path = path.string(),
          .inode = facts.st_ino,
          .address = address,
          .bytes = 0x10000,
          .offset = offset,
          .device_major = 8,
          .device_minor = 0x1a,
          .permissions = "r-xp"};
}

// A recording that begins after these files were written.
timespec later() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  time.tv_sec++;
  return time;
}

}  // namespace

TEST_CASE("the list of program files is read as it was written") {
  const TemporaryFolder folder;
  folder.write("pro gram", "123456789");
  folder.write("library", std::string(300000, 'x'));
  const std::set<CodeMapping> mappings = {mapping_of(folder.path() / "pro gram", 0x10000000),
                                          mapping_of(folder.path() / "pro gram", 0x20000000),
                                          mapping_of(folder.path() / "library", 0x7fff0000, 0x20)};
  const ProgramMaps written = read_program_files(mappings, later());
  const std::string text = to_text(written);
  // The check value of CRC-32C is that of the digits 1 to 9.
  CHECK(text.find("# file 9 e3069283 " + (folder.path() / "pro gram").string() + "\n") !=
        std::string::npos);
  const ProgramMaps read = parse_program_maps(
      "# maps of all processes when the trace had ended\n# pid 1 2 sh\n"
      "10000000-10010000 r-xp 00000000 00:01 6 /bin/sh\n" +
      text + "# maps of all processes when it was late\n1-2 r-xp 0 0:0 7 /bin/late\n");
  CHECK(read.malformed == 0);
  REQUIRE(read.files.size() == 2);
  std::set<CodeMapping> found;
  for (const ProgramMaps::File& file : read.files) {
    CHECK(file.content == content_of(file.path));
    CHECK(file.content.has_value());
    found.insert(file.mappings.begin(), file.mappings.end());
  }
  CHECK(found == mappings);
}

TEST_CASE("a file that changed during the recording has no content") {
  const TemporaryFolder folder;
  folder.write("prog", "before");
  const auto path = folder.path() / "prog";
  const auto has_content = [&](const timespec& begun) {
    const ProgramMaps maps = read_program_files({mapping_of(path, 0x10000)}, begun);
    return maps.files.at(0).content.has_value();
  };
  CHECK(has_content(later()));
  timespec begun{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &begun);
  // The inode stays the same.
  std::ofstream(path, std::ios::in | std::ios::out) << "after!";
  CHECK_FALSE(has_content(begun));
}

TEST_CASE("a file that is gone or replaced has no content, and neither has its successor's") {
  const TemporaryFolder folder;
  folder.write("prog", "old");
  const CodeMapping old = mapping_of(folder.path() / "prog", 0x10000000);
  folder.write("new", "new");
  std::filesystem::rename(folder.path() / "new", folder.path() / "prog");
  const CodeMapping successor = mapping_of(folder.path() / "prog", 0x10000000);
  REQUIRE(old.inode != successor.inode);
  folder.write("gone", "gone");
  const CodeMapping gone = mapping_of(folder.path() / "gone", 0x10000000);
  std::filesystem::remove(folder.path() / "gone");
  const ProgramMaps maps =
      parse_program_maps(to_text(read_program_files({old, successor, gone}, later())));
  REQUIRE(maps.files.size() == 3);
  for (const ProgramMaps::File& file : maps.files) {
    CHECK(file.content.has_value() == (file.inode == successor.inode));
  }
}

TEST_CASE("other versions of a file, folders and devices differ in content") {
  const TemporaryFolder folder;
  folder.write("a", std::string(200000, 'a'));
  folder.write("b", std::string(199999, 'a') + 'b');
  CHECK(content_of(folder.path() / "a") == content_of(folder.path() / "a"));
  CHECK(content_of(folder.path() / "a") != content_of(folder.path() / "b"));
  CHECK_FALSE(content_of(folder.path()).has_value());
  CHECK_FALSE(content_of("/dev/zero").has_value());
  CHECK_FALSE(content_of(folder.path() / "none").has_value());
}

TEST_CASE(
    "any text is accepted: malformed lines are counted, and the number of mappings is limited") {
  const std::string section = "# maps of the workload's processes\n";
  CHECK(parse_program_maps("").files.empty());
  CHECK(parse_program_maps("10000000-10010000 r-xp 0 8:1 5 /bin/a\n").files.empty());
  const ProgramMaps bad = parse_program_maps(
      section +
      "nonsense\n20-10 r-xp 0 8:1 5 /bin/a\n10-20 r-xp 0 8:1 5 [vdso]\n10-20 r-xp 0 8:1 5 bin\n"
      "# file x 1 /bin/a\n# file 1\n10-20\n10-20 r-xp 0 8:1 99999999999999999999999 /a\n"
      "10-20 r-xp 0 8:1 5      /bin/b c");
  CHECK(bad.malformed == 8);
  REQUIRE(bad.files.size() == 1);
  CHECK(bad.files[0].path == "/bin/b c");
  CHECK_FALSE(bad.files[0].content.has_value());
  std::string many = section;
  for (size_t i = 1; i <= kMostCodeMappings + 10; i++) {
    many += std::to_string(i * 100000) + "-f000000000 r-xp 0 8:1 5 /bin/a\n";
  }
  const ProgramMaps limited = parse_program_maps(many);
  REQUIRE(limited.files.size() == 1);
  CHECK(limited.files[0].mappings.size() == kMostCodeMappings);
}

TEST_CASE("a line end in a path does not begin another line") {
  CodeMapping mapping = mapping_of("/nowhere/a\n# file 1 2 /etc", 0x1000);
  const std::string text = to_text(read_program_files({mapping}, later()));
  const ProgramMaps maps = parse_program_maps(text);
  CHECK(maps.malformed == 0);
  REQUIRE(maps.files.size() == 1);
  CHECK(maps.files[0].path == "/nowhere/a\\012# file 1 2 /etc");
}

}  // namespace htmtrace
