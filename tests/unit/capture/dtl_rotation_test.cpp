// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/dtl/rotation.h"
#include "core/base/error.h"
#include "core/dispatch_log/blocks.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

std::string block_text(const std::vector<std::byte>& block) {
  return {reinterpret_cast<const char*>(block.data()), block.size()};
}

// The disk was full, or the recorder was killed.
std::string without_end() {
  return block_text(make_dtl_text_block(DtlBlockKind::kStart, "htmtrace"));
}

std::string small_recording() {
  return without_end() + block_text(make_dtl_end_block({.status = 0, .text = "nothing lost"}));
}

TEST_CASE("a rotation numbers its files, and continues the numbers of existing files") {
  const TemporaryFolder folder;
  const auto base = folder.path() / "log.dtl";
  DtlRotation rotation(base, {.every = std::chrono::hours(1)});
  CHECK(rotation.choose_next() == folder.path() / "log.dtl.0001");
  rotation.began();
  CHECK(rotation.current() == folder.path() / "log.dtl.0001");
  CHECK(rotation.choose_next() == folder.path() / "log.dtl.0002");
  folder.write("log.dtl.0041", small_recording());
  folder.write("log.dtl.99", small_recording());             // not a numbered name
  folder.write("log.dtl.000050", small_recording());         // not a numbered name
  folder.write("log.dtl.1000000000000", small_recording());  // too long a number
  folder.write("log.dtl.18446744073709551615", small_recording());
  folder.write("other.dtl.0060", small_recording());
  CHECK(DtlRotation(base, {}).choose_next() == folder.path() / "log.dtl.0042");
  // Another program has created the files meanwhile.
  CHECK(rotation.choose_next() == folder.path() / "log.dtl.0042");
}

TEST_CASE("a rotation reports that no number is left") {
  const TemporaryFolder folder;
  folder.write("log.999999999999", "");
  DtlRotation rotation(folder.path() / "log", {.bytes = 1000});
  CHECK_THROWS_WITH_AS(rotation.choose_next(), doctest::Contains("cannot number the next file"),
                       Error);
}

TEST_CASE("the next file begins after a time, at a size, and a second after an error") {
  const TemporaryFolder folder;
  DtlRotation rotation(folder.path() / "log", {.every = std::chrono::hours(1), .bytes = 1000});
  rotation.choose_next();
  rotation.began();
  CHECK_FALSE(rotation.due(999, false));
  CHECK(rotation.due(1000, false));
  CHECK_FALSE(rotation.due(0, true));
  const auto later = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  CHECK(rotation.due(0, true, later));
  rotation.put_off();
  CHECK_FALSE(rotation.due(1000, false));
  CHECK_FALSE(rotation.due(0, true, later));
  CHECK(rotation.due(0, false, later + std::chrono::hours(1)));
}

// After the first minute.
std::chrono::steady_clock::time_point after_minute() {
  return std::chrono::steady_clock::now() + std::chrono::minutes(1);
}

// Makes the recordings 1 to 6, and begins the seventh file.
struct Old {
  TemporaryFolder folder;
  std::optional<DtlRotation> rotation;

  explicit Old(uint64_t keep) {
    for (int number = 1; number <= 6; number++) {
      folder.write(fmt::format("log.{:04}", number), small_recording());
    }
    rotation.emplace(folder.path() / "log", DtlRotationOptions{.bytes = 1000, .keep = keep});
    begin_file(true);
  }
  void begin_file(bool whole) {
    const auto path = rotation->choose_next();
    folder.write(path.filename().string(), whole ? small_recording() : without_end());
    rotation->began();
  }
  // Returns the last digits of the files after remove_old().
  std::string left() {
    CHECK(rotation->remove_old(after_minute()).empty());
    std::string digits;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      digits += entry.path().string().back();
    }
    std::ranges::sort(digits);
    return digits;
  }
};

TEST_CASE("a rotation keeps the newest recordings, whatever their numbers are") {
  CHECK(Old(2).left() == "67");
  CHECK(Old(1).left() == "7");
  CHECK(Old(7).left() == "1234567");
  CHECK(Old(UINT64_MAX).left() == "1234567");
  Old with_gaps(3);
  for (const char* name : {"log.0005", "log.0004"}) {
    std::filesystem::remove(with_gaps.folder.path() / name);
  }
  CHECK(with_gaps.left() == "367");
  CHECK(with_gaps.rotation->removed() == 2);
}

TEST_CASE("files without an end do not displace whole files, also after a restart") {
  Old old(3);
  for (int i = 0; i < 5; i++) old.begin_file(false);  // 8 to 12
  old.rotation.emplace(old.folder.path() / "log",
                       DtlRotationOptions{.bytes = 1000, .keep = uint64_t{3}});
  old.begin_file(true);  // 13
  // The whole files 6, 7 and 13, and 10, 11 and 12.
  CHECK(old.left() == "012367");
}

TEST_CASE("a recording keeps twice as many files in its first minute") {
  Old old(2);
  const auto now = std::chrono::steady_clock::now();
  CHECK(old.rotation->wants_removal(now));
  CHECK(old.rotation->remove_old(now).empty());
  CHECK(old.rotation->removed() == 3);  // 4 to 7 are left
  CHECK_FALSE(old.rotation->wants_removal(now));
  CHECK(old.rotation->wants_removal(after_minute()));
  CHECK(old.left() == "67");
  CHECK_FALSE(old.rotation->wants_removal(after_minute()));
}

TEST_CASE("recorders that never last a minute leave a limited number of files") {
  Old old(2);
  for (int restart = 0; restart < 20; restart++) {
    old.rotation.emplace(old.folder.path() / "log",
                         DtlRotationOptions{.bytes = 1000, .keep = uint64_t{2}});
    old.begin_file(restart % 2 == 0);
    CHECK(old.rotation->remove_old().empty());
  }
  CHECK(old.left().size() <= 4);
}

TEST_CASE("if the next file cannot be created, the newest file stays") {
  Old old(1);
  old.rotation->choose_next();
  old.rotation->began();
  CHECK(old.left() == "7");
}

TEST_CASE("a rotation removes only recordings that are older than the current file") {
  const TemporaryFolder folder;
  for (const char* name : {"log.0001", "log.0002", "log.0004", "log.0005"}) {
    folder.write(name, small_recording());
  }
  folder.write("log.0003", "the user's own file");
  folder.write("log.0006", small_recording().substr(0, 20));  // the magic bytes do not suffice
  std::filesystem::create_symlink(folder.path() / "log.0001", folder.path() / "log.0000");
  DtlRotation rotation(folder.path() / "log", {.bytes = 1000, .keep = 2});
  CHECK(rotation.choose_next() == folder.path() / "log.0007");
  rotation.began();
  folder.write("log.0007", small_recording());
  folder.write("log.0008", small_recording());  // another recorder's
  CHECK(rotation.remove_old(after_minute()).empty());
  CHECK(rotation.removed() == 3);
  for (const char* name : {"log.0001", "log.0002", "log.0004"}) {
    CHECK_FALSE(std::filesystem::exists(folder.path() / name));
  }
  for (const char* name : {"log.0003", "log.0005", "log.0006", "log.0007", "log.0008"}) {
    CHECK(std::filesystem::exists(folder.path() / name));
  }
  CHECK(std::filesystem::is_symlink(folder.path() / "log.0000"));
}

}  // namespace
}  // namespace htmtrace
