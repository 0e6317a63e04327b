// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "cli/dtl/rotation.h"
#include "core/dispatch_log/blocks.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

std::string small_recording() {
  const auto block = make_dtl_text_block(DtlBlockKind::kStart, "htmtrace");
  return {reinterpret_cast<const char*>(block.data()), block.size()};
}

TEST_CASE("a rotation numbers its files, and a later rotation continues the numbers") {
  const TemporaryFolder folder;
  const auto base = folder.path() / "log.dtl";
  DtlRotation first(base, {.every = std::chrono::hours(1)});
  CHECK(first.next() == folder.path() / "log.dtl.0001");
  first.began();
  CHECK(first.next() == folder.path() / "log.dtl.0002");
  folder.write("log.dtl.0041", small_recording());
  folder.write("log.dtl.99", small_recording());      // not a numbered name
  folder.write("log.dtl.000050", small_recording());  // not a numbered name
  folder.write("other.dtl.0060", small_recording());
  CHECK(DtlRotation(base, {}).next() == folder.path() / "log.dtl.0042");
}

TEST_CASE("the next file begins after a time, at a size, and after an error") {
  const TemporaryFolder folder;
  DtlRotation rotation(folder.path() / "log", {.every = std::chrono::hours(1), .bytes = 1000});
  rotation.began();
  CHECK_FALSE(rotation.due(999, false));
  CHECK(rotation.due(1000, false));
  CHECK(rotation.due(0, true));
  rotation.put_off();
  CHECK_FALSE(rotation.due(1000, true));
  DtlRotation timed(folder.path() / "log", {.every = std::chrono::nanoseconds(1)});
  timed.began();
  CHECK(timed.due(0, false));
}

TEST_CASE("a rotation removes only old recordings") {
  const TemporaryFolder folder;
  for (const char* name : {"log.0001", "log.0002", "log.0004", "log.0005"}) {
    folder.write(name, small_recording());
  }
  folder.write("log.0003", "the user's own file");
  std::filesystem::create_symlink(folder.path() / "log.0001", folder.path() / "log.0000");
  DtlRotation rotation(folder.path() / "log", {.bytes = 1000, .keep = 2});
  folder.write("log.0006", small_recording());
  rotation.began();
  CHECK(rotation.remove_old().empty());
  CHECK(rotation.removed() == 3);
  for (const char* name : {"log.0001", "log.0002", "log.0004"}) {
    CHECK_FALSE(std::filesystem::exists(folder.path() / name));
  }
  for (const char* name : {"log.0003", "log.0005", "log.0006"}) {
    CHECK(std::filesystem::exists(folder.path() / name));
  }
  CHECK(std::filesystem::is_symlink(folder.path() / "log.0000"));
}

}  // namespace
}  // namespace htmtrace
