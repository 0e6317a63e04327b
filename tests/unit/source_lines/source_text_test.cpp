// SPDX-License-Identifier: GPL-2.0-or-later
// Source files are found below the folders of the user.
#include "output/source_lines/source_text.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace htmtrace {

TEST_CASE("the longest part of the path that exists wins") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "src");
  folder.write("a.c", "short\n");
  std::ofstream(folder.path() / "src/a.c") << "one\n\ttwo\r\nlast \x1b[1m";
  SourceText text({folder.path()});
  CHECK(text.line("/build/src/a.c", 1) == "one");
  CHECK(text.line("/build/src/a.c", 2) == "        two");
  CHECK(text.line("/build/src/a.c", 3) == "last \\x1b[1m");
  CHECK(text.line("/build/src/a.c", 4).empty());
  CHECK(text.line("/build/src/a.c", 0).empty());
  CHECK(text.line("/other/a.c", 1) == "short");
  CHECK(text.line("a.c", 1) == "short");
  CHECK(text.missing().empty());
  CHECK(text.line("/build/src/none.c", 1).empty());
  CHECK(text.line("", 1).empty());
  CHECK(text.missing() == std::vector<std::string>{"", "/build/src/none.c"});
}

}  // namespace htmtrace
