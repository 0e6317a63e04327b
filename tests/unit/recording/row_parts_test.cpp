// SPDX-License-Identifier: GPL-2.0-or-later
// The files of an export appear together, and a killed export leaves nothing forever.
#include "output/export/row_parts.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <list>
#include <set>
#include <string>

#include "core/base/error.h"
#include "output/export/avro_file.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

const RowSchema kOneNumber{
    .name = "one", .doc = "a number", .fields = {{.name = "ticks", .doc = "time"}}};

// Three files of one row each in folder "a", unpublished.
std::list<RowParts<AvroFile>> three_files(const TemporaryFolder& folder, Existing existing) {
  std::list<RowParts<AvroFile>> all;
  RowParts<AvroFile>& parts = all.emplace_back(
      folder.path() / "a", kOneNumber, RowPartsWishes{.rows = 1, .ticks = {}, .existing = existing},
      AvroFile::Options{});
  for (const uint64_t ticks : {1, 2, 3}) {
    parts.begin_row(ticks).number(ticks);
    parts.end_row();
  }
  parts.finish();
  return all;
}

std::set<std::string> parts_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

}  // namespace

TEST_CASE("a file that cannot be published: the files beside it are withdrawn") {
  const TemporaryFolder folder;
  auto all = three_files(folder, Existing::kRefuse);
  folder.write("a/part-00001.avro", "of another program");
  CHECK_THROWS_AS(publish_all(all, Existing::kRefuse), Error);
  CHECK(parts_in(folder.path() / "a") == std::set<std::string>{"part-00001.avro"});
  CHECK(folder.read("a/part-00001.avro") == "of another program");
}

TEST_CASE("a file that cannot be published: the error names files that replaced others") {
  const TemporaryFolder folder;
  auto all = three_files(folder, Existing::kReplace);
  folder.write("a/part-00002.avro/in", "a folder");
  const std::string a = (folder.path() / "a").string();
  try {
    publish_all(all, Existing::kReplace);
    FAIL("published");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "cannot create " + a + "/part-00002.avro: Is a directory");
    REQUIRE(error.subjects().size() == 1);
    CHECK(error.subjects().front() == "published already: 2 files, from " + a +
                                          "/part-00000.avro to " + a + "/part-00001.avro");
  }
  all.clear();
  CHECK(parts_in(folder.path() / "a") ==
        std::set<std::string>{"part-00000.avro", "part-00001.avro", "part-00002.avro"});
}

TEST_CASE("--force removes the hidden files of killed exports, and no other file") {
  const TemporaryFolder folder;
  const std::string ours = ".part-00007.avro.0123456789abcdef.new";
  folder.write("a/" + ours, "half");
  std::set<std::string> names = {"part-00000.avro", "part-00001.avro", "part-00002.avro"};
  for (const char* other :
       {".part-00007.parquet.0123456789abcdef.new", ".notes.avro.0123456789abcdef.new",
        ".part-00007.avro.0123456789abcdeF.new", ".part-00007.avro.123456789abcdef.new",
        ".part-00007.avro.0123456789abcdef.old", "part-00007.avro.0123456789abcdef.new",
        "target"}) {
    folder.write(std::string("a/") + other, "of another program");
    names.insert(other);
  }
  const char* const link = ".part-00008.avro.0123456789abcdef.new";
  std::filesystem::create_symlink("target", folder.path() / "a" / link);
  names.insert(link);
  if (::geteuid() == 0) {
    const char* const foreign = ".part-00009.avro.0123456789abcdef.new";
    folder.write(std::string("a/") + foreign, "of another user");
    REQUIRE(::chown((folder.path() / "a" / foreign).c_str(), 1, 1) == 0);
    names.insert(foreign);
  }
  SUBCASE("when no other export runs") {
    auto all = three_files(folder, Existing::kReplace);
    publish_all(all, Existing::kReplace);
    CHECK(parts_in(folder.path() / "a") == names);
    CHECK(folder.read("a/target") == "of another program");
  }
  SUBCASE("but not while another export holds the folder") {
    const Fd other = hold_folder(folder.path() / "a");
    REQUIRE(other);
    auto all = three_files(folder, Existing::kReplace);
    publish_all(all, Existing::kReplace);
    names.insert(ours);
    CHECK(parts_in(folder.path() / "a") == names);
  }
  SUBCASE("and not without --force") {
    auto all = three_files(folder, Existing::kRefuse);
    publish_all(all, Existing::kRefuse);
    names.insert(ours);
    CHECK(parts_in(folder.path() / "a") == names);
  }
}

}  // namespace htmtrace
