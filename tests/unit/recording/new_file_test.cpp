// SPDX-License-Identifier: GPL-2.0-or-later
// Outputs are whole or not there, private, and never reach through links.
#include "output/io/new_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>

#include "core/base/error.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

void put(const NewFile& file, const std::string& text) {
  REQUIRE(::write(file.fd(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

}  // namespace

TEST_CASE("new file: the old file stays until the new one is complete") {
  const TemporaryFolder folder;
  folder.write("out", "old");
  const fs::path path = folder.path() / "out";
  SUBCASE("an unfinished file leaves nothing") {
    {
      const NewFile file = NewFile::create(path, Existing::kReplace);
      put(file, "half");
      CHECK(folder.read("out") == "old");
    }
    CHECK(folder.read("out") == "old");
  }
  SUBCASE("a file that was set aside and is not published leaves nothing") {
    {
      NewFile file = NewFile::create(path, Existing::kReplace);
      put(file, "whole");
      CHECK(file.set_aside() == 0);
      CHECK(folder.read("out") == "old");
    }
    CHECK(folder.read("out") == "old");
  }
  SUBCASE("a complete file replaces the old one") {
    NewFile file = NewFile::create(path, Existing::kReplace);
    put(file, "whole");
    CHECK(file.finish() == 0);
    CHECK(folder.read("out") == "whole");
  }
  SUBCASE("a file that was set aside replaces the old one when it is published") {
    NewFile file = NewFile::create(path, Existing::kReplace);
    put(file, "whole");
    CHECK(file.set_aside() == 0);
    CHECK(file.publish() == 0);
    CHECK(folder.read("out") == "whole");
  }
  SUBCASE("a published file can still be written, and discarded") {
    NewFile file = NewFile::create(path, Existing::kReplace);
    put(file, "begin");
    CHECK(file.publish() == 0);
    put(file, ", end");
    CHECK(folder.read("out") == "begin, end");
    file.discard();
    CHECK(names_in(folder.path()).empty());
    return;
  }
  CHECK(names_in(folder.path()) == std::set<std::string>{"out"});
}

TEST_CASE("new file: without permission to replace, no file is ever replaced") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "out";
  for (const bool aside : {false, true}) {
    CAPTURE(aside);
    NewFile file = NewFile::create(path, Existing::kRefuse);
    put(file, "new");
    if (aside) CHECK(file.set_aside() == 0);
    folder.write("out", "appeared meanwhile");
    CHECK((aside ? file.publish() : file.finish()) == EEXIST);
    CHECK(folder.read("out") == "appeared meanwhile");
    file.discard();
    fs::remove(path);
  }
  folder.write("out", "old");
  CHECK(message_of([&] { NewFile::create(path, Existing::kRefuse); }) ==
        "cannot create " + path.string() + ": File exists");
}

TEST_CASE("new file: a published file can be discarded, unless another file has its name") {
  const TemporaryFolder folder;
  for (const bool set_aside : {false, true}) {
    for (const bool replaced : {false, true}) {
      CAPTURE(set_aside);
      CAPTURE(replaced);
      NewFile file = NewFile::create(folder.path() / "out", Existing::kReplace);
      put(file, "whole");
      if (set_aside) CHECK(file.set_aside() == 0);
      CHECK(file.publish() == 0);
      if (replaced) {
        folder.write("other", "of another program");
        fs::rename(folder.path() / "other", folder.path() / "out");
      }
      CHECK(file.discard() == 0);
      CHECK(fs::exists(folder.path() / "out") == replaced);
    }
    fs::remove(folder.path() / "out");
  }
}

TEST_CASE("new file: links are not followed, and not replaced by mistake") {
  const TemporaryFolder folder;
  folder.write("precious", "precious");
  const fs::path path = folder.path() / "out";
  SUBCASE("a link that is there") {
    fs::create_symlink("precious", path);
    for (const Existing existing : {Existing::kRefuse, Existing::kReplace}) {
      CHECK_THROWS_AS(NewFile::create(path, existing), Error);
    }
    CHECK(fs::is_symlink(path));
  }
  SUBCASE("a link that is planted later") {
    for (const Existing existing : {Existing::kRefuse, Existing::kReplace}) {
      NewFile file = NewFile::create(path, existing);
      put(file, "new");
      fs::remove(path);
      fs::create_symlink("precious", path);
      CHECK(file.finish() == (existing == Existing::kRefuse ? EEXIST : 0));
      CHECK(fs::is_symlink(path) == (existing == Existing::kRefuse));
      fs::remove(path);
    }
  }
  SUBCASE("discard() removes no file of somebody else") {
    NewFile file = NewFile::create(path, Existing::kRefuse);
    CHECK(file.publish() == 0);
    fs::remove(path);
    folder.write("out", "other");
    file.discard();
    CHECK(folder.read("out") == "other");
  }
  CHECK(folder.read("precious") == "precious");
}

TEST_CASE("new file: files and folders are private unless the mode is wider") {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  CHECK(NewFile::create(folder.path() / "a", Existing::kRefuse).finish() == 0);
  create_folders(folder.path() / "b" / "c");
  CHECK(mode_of(folder.path() / "a") == 0600);
  CHECK(mode_of(folder.path() / "b") == 0700);
  CHECK(mode_of(folder.path() / "b" / "c") == 0700);
  ::umask(0077);
  set_file_mode(0640);
  CHECK(NewFile::create(folder.path() / "d", Existing::kRefuse).finish() == 0);
  create_folders(folder.path() / "e");
  CHECK(mode_of(folder.path() / "d") == 0640);
  CHECK(mode_of(folder.path() / "e") == 0750);
  set_file_mode(0600);
  ::umask(before);
  folder.write("file", "");
  CHECK(message_of([&] { create_folders(folder.path() / "file" / "f"); }) ==
        "cannot create folder " + (folder.path() / "file").string() + ": Not a directory");
}

TEST_CASE("new file: a device is a stream, and a folder is no file") {
  NewFile null = NewFile::create("/dev/null", Existing::kRefuse);
  CHECK(null.is_stream());
  CHECK(null.finish() == 0);
  CHECK(fs::is_character_file("/dev/null"));
  const TemporaryFolder folder;
  CHECK(message_of([&] { NewFile::create(folder.path(), Existing::kReplace); }) ==
        "cannot create " + folder.path().string() + ": Is a directory");
  CHECK(message_of([&] { NewFile::create(folder.path() / "no" / "out", Existing::kReplace); }) ==
        "cannot create " + (folder.path() / "no" / "out").string() + ": No such file or directory");
}

}  // namespace htmtrace
