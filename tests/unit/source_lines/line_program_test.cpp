// SPDX-License-Identifier: GPL-2.0-or-later
// Line programs of DWARF 4 and 5, also damaged ones.
#include "output/source_lines/line_program.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace {
namespace {

using namespace std::string_literals;

std::string dwarf_number(uint64_t value, unsigned size_bytes) {
  std::string text;
  for (unsigned i = 0; i < size_bytes; i++) text += static_cast<char>(value >> 8 * i);
  return text;
}

std::string dwarf_address(uint64_t address) {
  return "\x00\x09\x02"s + dwarf_number(address, 8);
}

constexpr std::string_view kSequenceEnd("\x00\x01\x01", 3);

// The header of a program with opcode base 13, line base -5 and line range 14, as GCC makes it.
std::string dwarf_lines(unsigned version, const std::string& names, const std::string& opcodes) {
  const std::string fixed =
      "\x04\x01\x01\xfb\x0e\x0d\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01"s;
  const std::string header = fixed + names;
  std::string unit = dwarf_number(version, 2);
  if (version >= 5) unit += "\x08\x00"s;
  unit += dwarf_number(header.size(), 4) + header + opcodes;
  return dwarf_number(unit.size(), 4) + unit;
}

const std::string kLineNames = "inc\0\0"s + "a.c\0\x00\x00\x00"s + "b.h\0\x01\x00\x00"s + "\0"s;

class ReadLines {
 public:
  explicit ReadLines(std::string bytes, LineProgram::Keep keep = LineProgram::Keep::kChanges)
      : bytes_(std::move(bytes)) {
    sections_.line = std::as_bytes(std::span(bytes_));
    lines_ = std::make_unique<LineProgram>(
        sections_, 0, [](uint64_t address) { return address >= 0x1000; }, budget_, work_, keep);
  }
  std::string at(uint64_t address) const {
    const LineProgram::Found found = lines_->find(address);
    if (found.row == nullptr) return "-";
    return lines_->path_of(found.row->file, "/build") + ":" + std::to_string(found.row->line);
  }
  LineProgram::Found find(uint64_t address) const { return lines_->find(address); }
  // "BEGIN-END:LINE.COLUMN" of each row, with a star for a statement.
  std::string all() const {
    std::string text;
    lines_->visit([&](const LineProgram::Row& row, uint64_t end) {
      text += fmt::format("{:x}-{:x}:{}.{}{} ", row.address, end, row.line, row.column,
                          row.is_statement ? "*" : "");
    });
    return text;
  }

 private:
  std::string bytes_;
  LineSections sections_;
  MemoryBudget budget_;
  WorkBudget work_;
  std::unique_ptr<LineProgram> lines_;
};

// Line 11 of file 1 at 0x1000, line 12 at 0x1008, line 5 of file 2 at 0x1010, and the end at
// 0x1018. Special opcodes: 13 + (line + 5) + 14 * (address / 4).
std::string usual_rows() {
  return dwarf_address(0x1000) + "\x03\x0a\x01"s + static_cast<char>(13 + 6 + 28) +
         "\x04\x02\x03\x79\x02\x02\x01"s + "\x02\x02"s + std::string(kSequenceEnd);
}

}  // namespace

TEST_CASE("rows apply up to the next row") {
  const ReadLines program(dwarf_lines(4, kLineNames, usual_rows()));
  CHECK(program.at(0xfff) == "-");
  CHECK(program.at(0x1000) == "/build/a.c:11");
  CHECK(program.at(0x1004) == "/build/a.c:11");
  CHECK(program.at(0x1008) == "/build/a.c:12");
  CHECK(program.at(0x1010) == "/build/inc/b.h:5");
  CHECK(program.at(0x1017) == "/build/inc/b.h:5");
  CHECK(program.at(0x1018) == "-");
  CHECK(program.find(0x1004).row->address == 0x1000);
  CHECK(program.find(0x1004).end == 0x1008);
  CHECK(program.find(0x1010).end == 0x1018);
}

TEST_CASE("rows are work, because a unit can have many rows in few bytes") {
  const std::string bytes = dwarf_lines(4, kLineNames, usual_rows());
  constexpr size_t kLengthBytes = 4, kRows = 3;
  const LineSections sections{
      .line = std::as_bytes(std::span(bytes)), .line_str = {}, .str = {}, .big_endian = false};
  const auto read = [&](uint64_t left) {
    MemoryBudget budget;
    WorkBudget work;
    REQUIRE(work.spend(WorkBudget::kBaseBytes - left));
    return LineProgram(
               sections, 0, [](uint64_t) { return true; }, budget, work)
        .rows();
  };
  const uint64_t needed = bytes.size() - kLengthBytes + kRows * sizeof(LineProgram::Row);
  CHECK(read(needed) == kRows);
  CHECK_THROWS_WITH_AS(read(needed - 1), "the tables of all units have too many rows", Error);
}

TEST_CASE("the sequence of a removed function changes no row of code that it overlaps") {
  const std::string removed = dwarf_address(0) + "\x03\x63\x01"s + "\x02\x80\x10\x01"s +
                              "\x02\x80\x10"s + std::string(kSequenceEnd);
  const ReadLines program(dwarf_lines(4, kLineNames, removed + usual_rows() + removed));
  CHECK(program.at(0x1000) == "/build/a.c:11");
  CHECK(program.at(0x1012) == "/build/inc/b.h:5");
  CHECK(program.at(0x2000) == "-");
  CHECK(program.at(4) == "-");
}

TEST_CASE("the last of several rows at an address applies") {
  const std::string opcodes = dwarf_address(0x1000) + "\x03\x0a\x01\x03\x01\x01\x03\x01\x01"s +
                              "\x02\x01\x03\x05\x01"s + "\x02\x01"s + std::string(kSequenceEnd);
  const ReadLines program(dwarf_lines(4, kLineNames, opcodes));
  CHECK(program.at(0x1000) == "/build/a.c:13");
  CHECK(program.at(0x1004) == "/build/a.c:18");
}

TEST_CASE("version 5 counts files and folders from 0") {
  const std::string names = "\x01\x01\x08\x02/build\0inc\0"s + "\x02\x01\x08\x02\x0b\x03"s +
                            "a.c\0\x00"s + "a.c\0\x00"s + "/usr/b.h\0\x01"s;
  const ReadLines program(dwarf_lines(5, names, usual_rows()));
  CHECK(program.at(0x1000) == "/build/a.c:11");
  CHECK(program.at(0x1010) == "/usr/b.h:5");
}

TEST_CASE("all rows: statements without an instruction, columns, rows that are no statements") {
  // Line 11 at 0x1000, column 7; line 12 there; line 12 as no statement at 0x1004, twice.
  const std::string opcodes = dwarf_address(0x1000) + "\x03\x0a\x05\x07\x01"s +
                              static_cast<char>(13 + 6) + "\x06\x02\x01\x01\x01"s + "\x02\x02"s +
                              std::string(kSequenceEnd);
  const std::string bytes = dwarf_lines(4, kLineNames, opcodes);
  CHECK(ReadLines(bytes, LineProgram::Keep::kAll).all() ==
        "1000-1000:11.7* 1000-1004:12.7* 1004-1004:12.7 1004-100c:12.7 ");
  CHECK(ReadLines(bytes).all() == "1000-100c:12.7* ");
  CHECK(ReadLines(bytes, LineProgram::Keep::kAll).at(0x1000) == "/build/a.c:12");
}

TEST_CASE("a program that is cut or wrong is an error") {
  const std::string good = dwarf_lines(4, kLineNames, usual_rows());
  for (size_t size = 0; size < good.size(); size++) {
    CHECK_THROWS_AS(ReadLines(good.substr(0, size)), Error);
  }
  std::string wrong = good;
  wrong[4] = 1;  // version
  CHECK_THROWS_WITH_AS(ReadLines{wrong}, "it has version 1", Error);
  // A table of more files than the header has bytes.
  CHECK_THROWS_AS(ReadLines(dwarf_lines(5, "\x00\x00\x01\x01\x08\xff\xff\xff\x7f"s, "")), Error);
  CHECK_THROWS_AS(ReadLines(dwarf_lines(5, "\x00\x00\x00\xff\xff\xff\x7f"s, "")), Error);
}

TEST_CASE("any bytes give rows or an error") {
  generator::Random random(3);
  const std::string good = dwarf_lines(4, kLineNames, usual_rows());
  for (int round = 0; round < 3000; round++) {
    std::string bytes = good;
    for (uint64_t left = 1 + random.below(6); left > 0; left--) {
      bytes[4 + random.below(bytes.size() - 4)] = static_cast<char>(random.next());
    }
    try {
      ReadLines(bytes, LineProgram::Keep::kAll).all();
      const ReadLines program(bytes);
      for (uint64_t at = 0xff0; at < 0x1030; at += 4) {
        const LineProgram::Found found = program.find(at);
        if (found.row != nullptr) {
          CHECK(found.row->address <= at);
          CHECK(found.end > at);
          program.at(at);
        }
      }
    } catch (const Error&) {
    }
  }
}

}  // namespace htmtrace
