// SPDX-License-Identifier: GPL-2.0-or-later
// The cost of abbreviations of debug information.
#include "output/source_lines/abbreviations.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>

#include "core/base/error.h"

namespace htmtrace {
namespace {

using namespace std::string_literals;

// The header of a unit of DWARF 4 or 5 without entries.
std::string unit_header(unsigned version, uint8_t abbreviations) {
  const std::string offset = std::string(1, static_cast<char>(abbreviations)) + "\0\0\0"s;
  if (version < 5) return "\x07\0\0\0\x04\0"s + offset + "\x08"s;
  return "\x08\0\0\0\x05\0\x01\x08"s + offset;
}

void check_tables(const std::string& info, const std::string& abbreviations) {
  EntrySections sections;
  sections.info = std::as_bytes(std::span(info));
  sections.abbreviations = std::as_bytes(std::span(abbreviations));
  MemoryBudget budget;
  WorkBudget work;
  check_abbreviations(sections, budget, work);
}

// An abbreviation with attributes that have no value (DW_FORM_flag_present).
std::string flags_abbreviation(unsigned count) {
  std::string text = "\x01\x2e\0"s;
  for (unsigned i = 0; i < count; i++) text += "\x3f\x19"s;
  return text + "\0\0"s;
}

}  // namespace

TEST_CASE("tables of compilers are accepted, also damaged ones") {
  const std::string table = flags_abbreviation(12) + "\x02\x34\0\x03\x21\x7f\x3a\x0b\0\0\0"s;
  for (const unsigned version : {4U, 5U}) {
    const std::string info = unit_header(version, 0);
    for (size_t size = 0; size <= table.size(); size++) check_tables(info, table.substr(0, size));
    for (size_t size = 0; size <= info.size(); size++) check_tables(info.substr(0, size), table);
  }
  check_tables(unit_header(4, 200), table);
}

TEST_CASE("an entry with more attributes than a compiler gives it is refused") {
  check_tables(unit_header(4, 0), flags_abbreviation(40) + "\0"s);
  CHECK_THROWS_WITH_AS(check_tables(unit_header(4, 0), flags_abbreviation(60) + "\0"s),
                       "an abbreviation has too many attributes", Error);
  std::string many = "\x01\x2e\0"s;
  for (int i = 0; i < 300; i++) many += "\x3a\x0b"s;
  CHECK_THROWS_AS(check_tables(unit_header(5, 0), many + "\0\0\0"s), Error);
}

TEST_CASE("each unit takes the memory of its table, also if units share the table") {
  std::string table, info;
  for (int i = 0; i < 10'000; i++) table += flags_abbreviation(1);
  table += "\0"s;
  for (int i = 0; i < 60; i++) info += unit_header(4, 0);
  check_tables(info, table);
  for (int i = 0; i < 60; i++) info += unit_header(4, 0);
  CHECK_THROWS_AS(check_tables(info, table), Error);
}

}  // namespace htmtrace
