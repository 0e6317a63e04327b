// SPDX-License-Identifier: GPL-2.0-or-later
// Later ranges hide the covered parts of earlier ranges.
#include "output/source_lines/painted_ranges.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tests/generator/generated_trace.h"

namespace htmtrace {
namespace {

using NumberedRanges = PaintedRanges<int>;

std::vector<int> painted_values(std::vector<NumberedRanges::Range> ranges, size_t count) {
  std::vector<int> all(count);
  uint64_t last = 0;
  for (const NumberedRanges::Range& range : ranges) {
    CHECK(range.begin >= last);
    CHECK(range.begin < range.end);
    last = range.end;
    for (uint64_t at = range.begin; at < range.end; at++) all.at(at) = range.value;
  }
  return all;
}

}  // namespace

TEST_CASE("a nested range divides the outer range") {
  NumberedRanges ranges;
  ranges.paint(10, 100, 1);
  ranges.paint(40, 50, 2);
  ranges.paint(50, 50, 3);  // empty
  ranges.paint(60, 20, 4);  // damaged
  const auto all = ranges.take();
  REQUIRE(all.size() == 3);
  CHECK(all[0].end == 40);
  CHECK(all[1].value == 2);
  CHECK(all[2].begin == 50);
  CHECK(ranges.take().empty());
}

TEST_CASE("any order of ranges gives the last value of each address") {
  generator::Random random(7);
  for (int round = 0; round < 200; round++) {
    NumberedRanges ranges;
    std::vector<int> expected(64);
    for (int value = 1; value < 30; value++) {
      const uint64_t begin = random.below(64), end = random.below(65);
      ranges.paint(begin, end, value);
      for (uint64_t at = begin; at < end; at++) expected.at(at) = value;
    }
    CHECK(painted_values(ranges.take(), 64) == expected);
  }
}

}  // namespace htmtrace
