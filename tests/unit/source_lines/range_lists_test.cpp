// SPDX-License-Identifier: GPL-2.0-or-later
// The sizes of lists of address ranges.
#include "output/source_lines/range_lists.h"

#include <doctest/doctest.h>

#include <span>
#include <string>

namespace htmtrace {
namespace {

using namespace std::string_literals;

uint64_t list_size(const std::string& bytes, unsigned version, uint64_t offset) {
  RangeSections sections;
  sections.ranges = sections.rnglists = std::as_bytes(std::span(bytes));
  return list_bytes(sections, version, 8, offset);
}

const std::string kEightBytes(8, '\x11'), kNullPair(16, '\0'), kBaseMark(8, '\xff');

}  // namespace

TEST_CASE("a list up to DWARF 4 ends with two zeros") {
  const std::string list = kBaseMark + kEightBytes + kEightBytes + kEightBytes + kNullPair;
  CHECK(list_size(list + "more"s, 4, 0) == list.size());
  CHECK(list_size(list, 4, 16) == 32);
  CHECK(list_size(list.substr(0, 20), 4, 0) == 16);
  CHECK(list_size(list, 4, 1000) == 0);
}

TEST_CASE("the elements of DWARF 5 have different sizes") {
  const std::string list = "\x01\x81\x01\x02\x05\x06\x03\x01\x02\x04\x80\x01\x02\x05"s +
                           kEightBytes + "\x06"s + kEightBytes + kEightBytes + "\x07"s +
                           kEightBytes + "\x09\0"s;
  CHECK(list_size(list + "more"s, 5, 0) == list.size());
  CHECK(list_size(list, 5, 3) == list.size() - 3);
  for (size_t size = 0; size < list.size(); size++) {
    CHECK(list_size(list.substr(0, size), 5, 0) <= size);
  }
}

TEST_CASE("a table of offsets leads to lists") {
  const std::string table = "\x08\0\0\0\x10\0\0\0"s;
  RangeSections sections;
  sections.rnglists = std::as_bytes(std::span(table));
  CHECK(list_offset(sections, 0, 1, 4) == 16);
  CHECK(list_offset(sections, 4, 0, 4) == 20);
  CHECK(list_offset(sections, 0, 2, 4) == 0);
  CHECK(list_offset(sections, 9, 0, 4) == 0);
}

}  // namespace htmtrace
