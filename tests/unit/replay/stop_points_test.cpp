// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/replay/stop_points.h"

#include <doctest/doctest.h>

#include "cli/replay/code_words.h"

namespace htmtrace {
namespace {

constexpr uint32_t kLd = 0xe8650008, kStb = 0x98850000, kNop = 0x60000000;

Instruction code_at(uint64_t ea, uint32_t opcode) {
  Instruction instruction;
  instruction.ea = EffectiveAddr{ea};
  instruction.has_ea = true;
  instruction.opcode = opcode;
  instruction.has_opcode = true;
  return instruction;
}

Instruction accessing(uint32_t opcode, uint64_t data) {
  Instruction instruction = code_at(0x1000, opcode);
  instruction.add_data(EffectiveAddr{data});
  return instruction;
}

}  // namespace

TEST_CASE("a breakpoint is at exactly its address, until it is removed") {
  StopPoints points;
  constexpr uint64_t kSameRow = uint64_t{4096} * 4;
  CHECK(!points.breakpoint_at(0x1000));
  REQUIRE(points.add({.type = StopType::kSoftware, .address = 0x1000}));
  REQUIRE(points.add({.type = StopType::kHardware, .address = 0x1000 + kSameRow}));
  REQUIRE(points.add({.type = StopType::kSoftware, .address = 0x1000}));
  CHECK(points.breakpoint_at(0x1000) == StopType::kSoftware);
  CHECK(points.breakpoint_at(0x1000 + kSameRow) == StopType::kHardware);
  CHECK(!points.breakpoint_at(0x1000 + 2 * kSameRow));
  points.remove({.type = StopType::kSoftware, .address = 0x1000});
  CHECK(!points.breakpoint_at(0x1000));
  CHECK(points.breakpoint_at(0x1000 + kSameRow) == StopType::kHardware);
  points.remove({.type = StopType::kSoftware, .address = 0x1000 + kSameRow});  // another type
  CHECK(points.breakpoint_at(0x1000 + kSameRow) == StopType::kHardware);
}

TEST_CASE("the number of points has a limit") {
  StopPoints points;
  for (uint64_t i = 0; i < StopPoints::kMostPoints; i++) {
    REQUIRE(points.add({.type = StopType::kSoftware, .address = i * 4}));
  }
  CHECK(!points.add({.type = StopType::kRead, .address = 0, .bytes = 8}));
  CHECK(points.add({.type = StopType::kSoftware, .address = 0}));
}

TEST_CASE("a watchpoint reports the accesses of its direction") {
  struct Case {
    StopType type;
    bool read, write;
  };
  for (const Case& one : {Case{StopType::kWrite, false, true}, Case{StopType::kRead, true, false},
                          Case{StopType::kAccess, true, true}}) {
    StopPoints points;
    REQUIRE(points.add({.type = one.type, .address = 0x2004, .bytes = 1}));
    CHECK(points.watchpoint_of(accessing(kLd, 0x2000)).has_value() == one.read);
    CHECK(points.watchpoint_of(accessing(kStb, 0x2004)).has_value() == one.write);
    CHECK(!points.watchpoint_of(accessing(kStb, 0x2003)));
    CHECK(!points.watchpoint_of(accessing(kLd, 0x2005)));
    points.set_filter(StopPoints::Filter::kWrites);  // of awatch only
    CHECK(points.watchpoint_of(accessing(kLd, 0x2000)).has_value() ==
          (one.type == StopType::kRead));
    points.set_filter(StopPoints::Filter::kReads);
    CHECK(points.watchpoint_of(accessing(kStb, 0x2004)).has_value() ==
          (one.type == StopType::kWrite));
  }
}

TEST_CASE("a watchpoint reports the lowest byte that the access touches") {
  StopPoints points;
  REQUIRE(points.add({.type = StopType::kAccess, .address = 0x2004, .bytes = 8}));
  const auto below = points.watchpoint_of(accessing(kLd, 0x2000));
  REQUIRE(below);
  CHECK(below->address == 0x2004);
  const auto above = points.watchpoint_of(accessing(kLd, 0x2008));
  REQUIRE(above);
  CHECK(above->address == 0x2008);
}

TEST_CASE("code is the executed words, unless different words were executed at an address") {
  CodeWords code(std::endian::little);
  code.add(code_at(0x1000, kNop));
  CHECK(code.byte_at(0x1000) == 0x00);
  CHECK(code.byte_at(0x1003) == 0x60);
  CHECK(!code.byte_at(0x1004));
  CHECK(!code.byte_at(0xfff));
  code.add(code_at(0x1000, kNop));
  CHECK(code.byte_at(0x1003) == 0x60);
  code.add(code_at(0x1000, kLd));
  CHECK(!code.byte_at(0x1003));
  code.add(code_at(0x1000, kNop));
  CHECK(!code.byte_at(0x1003));
  CHECK(code.byte_of(code_at(0x1000, kLd), 0x1003) == 0xe8);
  CHECK(!code.byte_of(code_at(0x1000, kLd), 0x1004));
}

TEST_CASE("code has the byte order of its mode, and a prefix precedes its word") {
  CodeWords code(std::endian::little);
  Instruction load = code_at(0x1000, 0xe4600010);
  load.prefix = 0x04100001;
  load.has_prefix = true;
  load.modes = {.bits = 0, .known = Modes::kLe};  // big-endian
  code.add(load);
  CHECK(code.byte_at(0x1000) == 0x04);
  CHECK(code.byte_at(0x1003) == 0x01);
  CHECK(code.byte_at(0x1004) == 0xe4);
  CHECK(code.byte_of(load, 0x1007) == 0x10);
  CHECK(!code.byte_of(load, 0x1008));
}

}  // namespace htmtrace
