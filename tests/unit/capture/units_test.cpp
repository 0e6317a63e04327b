// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/units.h"

#include <doctest/doctest.h>

namespace htmtrace {

TEST_CASE("sizes accept K, M and G") {
  CHECK(parse_size("0") == 0);
  CHECK(parse_size("65536") == 65536);
  CHECK(parse_size("64K") == 65536);
  CHECK(parse_size("1m") == 1 << 20);
  CHECK(parse_size("2G") == uint64_t{2} << 30);
  for (const char* text : {"", "K", "1KB", "-1", "+1", "1.5M", " 1", "1 ", "0x10",
                           "18446744073709551616", "18014398509481984K"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size(text));
  }
}

TEST_CASE("times accept a unit, and default to seconds") {
  using std::chrono::nanoseconds;
  CHECK(parse_duration("1") == nanoseconds(1'000'000'000));
  CHECK(parse_duration("500ms") == nanoseconds(500'000'000));
  CHECK(parse_duration("0.5s") == nanoseconds(500'000'000));
  CHECK(parse_duration("20us") == nanoseconds(20'000));
  CHECK(parse_duration("2m") == nanoseconds(120'000'000'000));
  CHECK(parse_duration("1h") == nanoseconds(3'600'000'000'000));
  for (const char* text : {"", "s", "0", "0s", "-1s", "1x", "1e9", "1.2.3s", "inf", "nan", "1 s",
                           "0.1ns", "99999999h"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
  }
}

TEST_CASE("a moment is exact to the nanosecond") {
  CHECK(parse_moment("0") == 0);
  CHECK(parse_moment("1.000000195") == 1'000'000'195);
  CHECK(parse_moment("123456789.987654321s") == 123'456'789'987'654'321);
  CHECK(parse_moment("12.5") == 12'500'000'000);
  for (const char* text : {"", "s", ".5", "1.", "-1", "+1", "1.0000001955", "1.x", "1.5x", "1 ",
                           "18446744073709551615", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_moment(text));
  }
}

}  // namespace htmtrace
