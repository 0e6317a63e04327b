// SPDX-License-Identifier: GPL-2.0-or-later
// GNU as generated the encodings from the names beside them (binutils 2.40, -mpower10).
#include "core/core_trace/access_shape.h"

#include <doctest/doctest.h>

#include <string>

namespace htmtrace {
namespace {

struct ShapeExample {
  uint32_t prefix;  // 0: none
  uint32_t opcode;
  const char* name;
  unsigned bytes;
  const char* direction;
};

constexpr ShapeExample kShapeExamples[] = {
    {0, 0x80650004, "lwz 3,4(5)", 4, "r"},
    {0, 0x84650004, "lwzu 3,4(5)", 4, "r"},
    {0, 0x88650004, "lbz 3,4(5)", 1, "r"},
    {0, 0x90650004, "stw 3,4(5)", 4, "w"},
    {0, 0x98650004, "stb 3,4(5)", 1, "w"},
    {0, 0xa0650004, "lhz 3,4(5)", 2, "r"},
    {0, 0xa8650004, "lha 3,4(5)", 2, "r"},
    {0, 0xb0650004, "sth 3,4(5)", 2, "w"},
    {0, 0xbba50004, "lmw 29,4(5)", 12, "r"},
    {0, 0xbc050004, "stmw 0,4(5)", 128, "w"},
    {0, 0xc0250004, "lfs 1,4(5)", 4, "r"},
    {0, 0xc8250008, "lfd 1,8(5)", 8, "r"},
    {0, 0xd0250004, "stfs 1,4(5)", 4, "w"},
    {0, 0xd8250008, "stfd 1,8(5)", 8, "w"},
    {0, 0xe0860010, "lq 4,16(6)", 16, "r"},
    {0, 0xe425000a, "lxsd 1,8(5)", 8, "r"},
    {0, 0xe425000b, "lxssp 1,8(5)", 4, "r"},
    {0, 0xe8650008, "ld 3,8(5)", 8, "r"},
    {0, 0xe8650009, "ldu 3,8(5)", 8, "r"},
    {0, 0xe865000a, "lwa 3,8(5)", 4, "r"},
    {0, 0xf4250019, "lxv 33,16(5)", 16, "r"},
    {0, 0xf425001d, "stxv 33,16(5)", 16, "w"},
    {0, 0xf425000a, "stxsd 1,8(5)", 8, "w"},
    {0, 0xf425000b, "stxssp 1,8(5)", 4, "w"},
    {0, 0xf8650008, "std 3,8(5)", 8, "w"},
    {0, 0xf8650009, "stdu 3,8(5)", 8, "w"},
    {0, 0xf8860012, "stq 4,16(6)", 16, "w"},
    {0, 0x18650020, "lxvp 34,32(5)", 32, "r"},
    {0, 0x18650021, "stxvp 34,32(5)", 32, "w"},
    {0, 0x7c64282a, "ldx 3,4,5", 8, "r"},
    {0, 0x7c64282e, "lwzx 3,4,5", 4, "r"},
    {0, 0x7c6428ee, "lbzux 3,4,5", 1, "r"},
    {0, 0x7c642aae, "lhax 3,4,5", 2, "r"},
    {0, 0x7c642aaa, "lwax 3,4,5", 4, "r"},
    {0, 0x7c64296a, "stdux 3,4,5", 8, "w"},
    {0, 0x7c64292e, "stwx 3,4,5", 4, "w"},
    {0, 0x7c6429ae, "stbx 3,4,5", 1, "w"},
    {0, 0x7c642b6e, "sthux 3,4,5", 2, "w"},
    {0, 0x7c642c28, "ldbrx 3,4,5", 8, "r"},
    {0, 0x7c642c2c, "lwbrx 3,4,5", 4, "r"},
    {0, 0x7c642e2c, "lhbrx 3,4,5", 2, "r"},
    {0, 0x7c642d28, "stdbrx 3,4,5", 8, "w"},
    {0, 0x7c642d2c, "stwbrx 3,4,5", 4, "w"},
    {0, 0x7c642f2c, "sthbrx 3,4,5", 2, "w"},
    {0, 0x7c662caa, "lswi 3,6,5", 5, "r"},
    {0, 0x7c642c2a, "lswx 3,4,5", 127, "r"},
    {0, 0x7c6405aa, "stswi 3,4,0", 32, "w"},
    {0, 0x7c6428ce, "lvx 3,4,5", 16, "r"},
    {0, 0x7c64280e, "lvebx 3,4,5", 1, "r"},
    {0, 0x7c64284e, "lvehx 3,4,5", 2, "r"},
    {0, 0x7c64288e, "lvewx 3,4,5", 4, "r"},
    {0, 0x7c6429ce, "stvx 3,4,5", 16, "w"},
    {0, 0x7c642bce, "stvxl 3,4,5", 16, "w"},
    {0, 0x7c64298e, "stvewx 3,4,5", 4, "w"},
    {0, 0x7c642a18, "lxvx 3,4,5", 16, "r"},
    {0, 0x7c242a19, "lxvx 33,4,5", 16, "r"},
    {0, 0x7c242b19, "stxvx 33,4,5", 16, "w"},
    {0, 0x7c242a1b, "lxvl 33,4,5", 16, "r"},
    {0, 0x7c242b1b, "stxvl 33,4,5", 16, "w"},
    {0, 0x7c242e99, "lxvd2x 33,4,5", 16, "r"},
    {0, 0x7c242e19, "lxvw4x 33,4,5", 16, "r"},
    {0, 0x7c242e59, "lxvh8x 33,4,5", 16, "r"},
    {0, 0x7c242ed9, "lxvb16x 33,4,5", 16, "r"},
    {0, 0x7c242f99, "stxvd2x 33,4,5", 16, "w"},
    {0, 0x7c242fd9, "stxvb16x 33,4,5", 16, "w"},
    {0, 0x7c242a99, "lxvdsx 33,4,5", 8, "r"},
    {0, 0x7c242ad9, "lxvwsx 33,4,5", 4, "r"},
    {0, 0x7c242c99, "lxsdx 33,4,5", 8, "r"},
    {0, 0x7c242c19, "lxsspx 33,4,5", 4, "r"},
    {0, 0x7c242819, "lxsiwzx 33,4,5", 4, "r"},
    {0, 0x7c242899, "lxsiwax 33,4,5", 4, "r"},
    {0, 0x7c242e1b, "lxsibzx 33,4,5", 1, "r"},
    {0, 0x7c242e5b, "lxsihzx 33,4,5", 2, "r"},
    {0, 0x7c242d99, "stxsdx 33,4,5", 8, "w"},
    {0, 0x7c242d19, "stxsspx 33,4,5", 4, "w"},
    {0, 0x7c242919, "stxsiwx 33,4,5", 4, "w"},
    {0, 0x7c242f1b, "stxsibx 33,4,5", 1, "w"},
    {0, 0x7c242f5b, "stxsihx 33,4,5", 2, "w"},
    {0, 0x7c24281b, "lxvrbx 33,4,5", 1, "r"},
    {0, 0x7c24285b, "lxvrhx 33,4,5", 2, "r"},
    {0, 0x7c24289b, "lxvrwx 33,4,5", 4, "r"},
    {0, 0x7c2428db, "lxvrdx 33,4,5", 8, "r"},
    {0, 0x7c24291b, "stxvrbx 33,4,5", 1, "w"},
    {0, 0x7c2429db, "stxvrdx 33,4,5", 8, "w"},
    {0, 0x7c642a9a, "lxvpx 34,4,5", 32, "r"},
    {0, 0x7c642b9a, "stxvpx 34,4,5", 32, "w"},
    {0, 0x7c242c2e, "lfsx 1,4,5", 4, "r"},
    {0, 0x7c242cee, "lfdux 1,4,5", 8, "r"},
    {0, 0x7c242eae, "lfiwax 1,4,5", 4, "r"},
    {0, 0x7c242eee, "lfiwzx 1,4,5", 4, "r"},
    {0, 0x7c242d2e, "stfsx 1,4,5", 4, "w"},
    {0, 0x7c242dae, "stfdx 1,4,5", 8, "w"},
    {0, 0x7c242fae, "stfiwx 1,4,5", 4, "w"},
    {0, 0x7c642e2a, "lwzcix 3,4,5", 4, "r"},
    {0, 0x7c642eea, "ldcix 3,4,5", 8, "r"},
    {0, 0x7c642faa, "stbcix 3,4,5", 1, "w"},
    {0, 0x7c642f6a, "sthcix 3,4,5", 2, "w"},
    {0, 0x7c642fea, "stdcix 3,4,5", 8, "w"},
    {0, 0x7c642868, "lbarx 3,4,5", 1, "r"},
    {0, 0x7c6428e8, "lharx 3,4,5", 2, "r"},
    {0, 0x7c642828, "lwarx 3,4,5", 4, "r"},
    {0, 0x7c6428a8, "ldarx 3,4,5", 8, "r"},
    {0, 0x7c864228, "lqarx 4,6,8", 16, "r"},
    {0, 0x7c642d6d, "stbcx. 3,4,5", 1, "w"},
    {0, 0x7c642dad, "sthcx. 3,4,5", 2, "w"},
    {0, 0x7c64292d, "stwcx. 3,4,5", 4, "w"},
    {0, 0x7c6429ad, "stdcx. 3,4,5", 8, "w"},
    {0, 0x7c86416d, "stqcx. 4,6,8", 16, "w"},
    {0, 0x7c64048c, "lwat 3,4,0", 8, "rw"},
    {0, 0x7c6404cc, "ldat 3,4,0", 16, "rw"},
    {0, 0x7c64058c, "stwat 3,4,0", 8, "rw"},
    {0, 0x7fe41da5, "hashst 3,-8(4)", 8, "w"},
    {0, 0x7fe41de5, "hashchk 3,-8(4)", 8, "r"},
    {0, 0x7c0327ec, "dcbz 3,4", 128, "w"},
    {0, 0x7c23260c, "copy 3,4", 128, "r"},
    {0, 0x7c03222c, "dcbt 3,4", 1, ""},
    {0, 0x7c0320ac, "dcbf 3,4", 1, ""},
    {0, 0x7c0327ac, "icbi 3,4", 1, ""},
    {0, 0x38640005, "addi 3,4,5", 1, ""},
    {0x06000000, 0x80650004, "plwz 3,4(5)", 4, "r"},
    {0x06000000, 0x88650004, "plbz 3,4(5)", 1, "r"},
    {0x04000000, 0xe4650008, "pld 3,8(5)", 8, "r"},
    {0x04000000, 0xf4650008, "pstd 3,8(5)", 8, "w"},
    {0x04000000, 0xa4650004, "plwa 3,4(5)", 4, "r"},
    {0x04000000, 0xcc250010, "plxv 33,16(5)", 16, "r"},
    {0x04000000, 0xdc250010, "pstxv 33,16(5)", 16, "w"},
    {0x04000000, 0xe8650020, "plxvp 34,32(5)", 32, "r"},
    {0x04000000, 0xf8650020, "pstxvp 34,32(5)", 32, "w"},
    {0x04000000, 0xe0860010, "plq 4,16(6)", 16, "r"},
    {0x04000000, 0xf0860010, "pstq 4,16(6)", 16, "w"},
    {0x04000000, 0xa8250008, "plxsd 1,8(5)", 8, "r"},
    {0x04000000, 0xbc250008, "pstxssp 1,8(5)", 4, "w"},
    {0x06000000, 0xc8250008, "plfd 1,8(5)", 8, "r"},
    {0x06000000, 0x38640005, "paddi 3,4,5", 1, ""},
};

Instruction instruction_of(const ShapeExample& example) {
  Instruction instruction;
  instruction.opcode = example.opcode;
  instruction.has_opcode = true;
  instruction.prefix = example.prefix;
  instruction.has_prefix = example.prefix != 0;
  return instruction;
}

std::string direction_of(AccessShape shape) {
  return std::string(shape.reads ? "r" : "") + (shape.writes ? "w" : "");
}

// The lowest touched byte of [first, first + bytes), or 0.
uint64_t touched_by(const Instruction& instruction, unsigned index, uint64_t first,
                    uint64_t bytes) {
  uint64_t touched = 0;
  const AccessShape shape = access_shape(instruction);
  return touches(instruction, index, shape, first, bytes, touched) ? touched : 0;
}

Instruction access_of(uint32_t opcode, uint64_t ea) {
  Instruction instruction = instruction_of({0, opcode, "", 0, ""});
  instruction.add_data(EffectiveAddr{ea});
  return instruction;
}

}  // namespace

TEST_CASE("the opcode of a load or store gives the size and the direction of its access") {
  for (const ShapeExample& example : kShapeExamples) {
    CAPTURE(example.name);
    const AccessShape shape = access_shape(instruction_of(example));
    CHECK(shape.bytes == example.bytes);
    CHECK(direction_of(shape) == example.direction);
  }
}

TEST_CASE("an access touches exactly its bytes") {
  const Instruction load = access_of(0xe8650008, 0x1000);  // ld: 8 bytes
  CHECK(touched_by(load, 0, 0xff8, 8) == 0);
  CHECK(touched_by(load, 0, 0xff8, 9) == 0x1000);
  CHECK(touched_by(load, 0, 0x1007, 1) == 0x1007);
  CHECK(touched_by(load, 0, 0x1008, 8) == 0);
  const Instruction last = access_of(0xe8650008, 0xfffffffffffffff8);
  CHECK(touched_by(last, 0, 0xffffffffffffffff, 1) == 0xffffffffffffffff);
  CHECK(touched_by(last, 0, 0xffffffffffffffff, 8) == 0xffffffffffffffff);
  CHECK(touched_by(last, 0, 1, 8) == 0);
}

TEST_CASE("the second address of an access covers the rest of its bytes") {
  Instruction load = access_of(0xe8650008, 0x1ffe);
  load.add_data(EffectiveAddr{0x2000});
  CHECK(touched_by(load, 1, 0x2005, 1) == 0x2005);
  CHECK(touched_by(load, 1, 0x2006, 1) == 0);
}

TEST_CASE("an instruction on a cache line touches the whole line") {
  const Instruction zero = access_of(0x7c0327ec, 0x1048);  // dcbz 3,4
  CHECK(touched_by(zero, 0, 0xfff, 1) == 0);
  CHECK(touched_by(zero, 0, 0x1000, 1) == 0x1000);
  CHECK(touched_by(zero, 0, 0x107f, 1) == 0x107f);
  CHECK(touched_by(zero, 0, 0x1080, 1) == 0);
}

}  // namespace htmtrace
