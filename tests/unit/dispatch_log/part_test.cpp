// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/part.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

namespace htmtrace {
namespace {

const std::string kDirectly = "no merged file has dispatches directly before this file";

DtlPart a_part(const char* recording, uint64_t number, bool whole = true) {
  return {.recording = recording, .number = number, .whole = whole};
}

}  // namespace

TEST_CASE("successive parts have no gap, however long nothing was dispatched") {
  DtlParts parts;
  CHECK(parts.next(a_part("5", 1), false).empty());
  CHECK(parts.next(a_part("5", 2), true).empty());
  CHECK(parts.next(a_part("5", 3), true).empty());
}

TEST_CASE("missing parts are a gap, however short") {
  DtlParts parts;
  CHECK(parts.next(a_part("5", 2), false) ==
        "no merged file has dispatches of part 1 of this recording");
  CHECK(parts.next(a_part("5", 6), false) ==
        "no merged file has dispatches of the parts 3 to 5 of this recording");
  CHECK(parts.next(a_part("6", 1), false).empty());
  CHECK(parts.next(a_part("7", 2), false) ==
        "no merged file has dispatches of part 1 of this recording");
}

TEST_CASE("a whole part without dispatches is not missing") {
  DtlParts parts;
  parts.add_silent(a_part("5", 2));
  parts.add_silent(a_part("5", 3));
  parts.add_silent(a_part("5", 5, false));
  CHECK(parts.next(a_part("5", 1), false).empty());
  CHECK(parts.next(a_part("5", 4), true).empty());
  CHECK(parts.next(a_part("5", 6), false) ==
        "no merged file has dispatches of part 5 of this recording");
}

TEST_CASE("next to a part that is not whole, a second without dispatches is a gap") {
  DtlParts parts;
  CHECK(parts.next(a_part("5", 1, false), false).empty());
  CHECK(parts.next(a_part("5", 2), true) == kDirectly);
  CHECK(parts.next(a_part("5", 3, false), true) == kDirectly);
  CHECK(parts.next(a_part("5", 4), false).empty());
}

TEST_CASE("without numbers, a second without dispatches is a gap") {
  DtlParts parts;
  CHECK(parts.next({}, false).empty());
  CHECK(parts.next({.recording = {}, .number = 0, .whole = true}, true) == kDirectly);
  CHECK(parts.next({.recording = "5", .number = 0, .whole = true}, true) == kDirectly);
  CHECK(parts.next({.recording = "5", .number = 0, .whole = true}, false).empty());
}

TEST_CASE("two recordings of one partition can alternate") {
  DtlParts parts;
  for (const char* recording : {"5", "6"}) CHECK(parts.next(a_part(recording, 1), false).empty());
  CHECK(parts.next(a_part("6", 2), true).empty());
  CHECK(parts.next(a_part("5", 2), true).empty());
  CHECK(parts.next(a_part("6", 4), false) ==
        "no merged file has dispatches of part 3 of this recording");
}

}  // namespace htmtrace
