// SPDX-License-Identifier: GPL-2.0-or-later
// GNU as generated the encodings from the names beside them (binutils 2.40, -mpower10).
#include "core/core_trace/instruction_class.h"

#include <doctest/doctest.h>

#include <string>

namespace htmtrace {
namespace {

std::string name_of(InstructionClass value) {
  return std::string(kInstructionClassNames.at(static_cast<size_t>(value)));
}

struct Example {
  uint32_t opcode;
  const char* name;
  const char* expected;
};

constexpr Example kExamples[] = {
    {0x38640005, "addi 3,4,5", "integer"},
    {0x7c232040, "cmpld 3,4", "integer"},
    {0x7c64299e, "isel 3,4,5,6", "integer"},
    {0x78832980, "rldicl 3,4,5,6", "integer"},
    {0x7c6429d2, "mulld 3,4,5", "integer"},
    {0x7c600026, "mfcr 3", "integer"},
    {0x7c6ff120, "mtcrf 255,3", "integer"},
    {0x4c011202, "crand 0,1,2", "integer"},
    {0x4c620004, "addpcis 3,4", "integer"},
    {0x106429b3, "maddld 3,4,5,6", "integer"},
    {0x7c6005e6, "darn 3,0", "integer"},
    {0x48000008, "b .+8", "branch"},
    {0x41820008, "bc 12,2,.+8", "branch"},
    {0x4e800020, "blr", "branch"},
    {0x4e800421, "bctrl", "branch"},
    {0x4e800460, "bctar 20,0", "branch"},
    {0x80650004, "lwz 3,4(5)", "load"},
    {0xe8650008, "ld 3,8(5)", "load"},
    {0xe865000a, "lwa 3,8(5)", "load"},
    {0xe0850010, "lq 4,16(5)", "load"},
    {0x7c6428ae, "lbzx 3,4,5", "load"},
    {0x7c642c28, "ldbrx 3,4,5", "load"},
    {0xc8250008, "lfd 1,8(5)", "load"},
    {0x7c242c2e, "lfsx 1,4,5", "load"},
    {0x7c2428ce, "lvx 1,4,5", "load"},
    {0xf4250011, "lxv 1,16(5)", "load"},
    {0x7c242a18, "lxvx 1,4,5", "load"},
    {0x18450020, "lxvp 2,32(5)", "load"},
    {0x7c242e98, "lxvd2x 1,4,5", "load"},
    {0x7c242a1a, "lxvl 1,4,5", "load"},
    {0x7c242e1a, "lxsibzx 1,4,5", "load"},
    {0x7c2428da, "lxvrdx 1,4,5", "load"},
    {0x7fe11de5, "hashchk 3,-8(1)", "load"},
    {0x90650004, "stw 3,4(5)", "store"},
    {0xf821ffe1, "stdu 1,-32(1)", "store"},
    {0xf8850012, "stq 4,16(5)", "store"},
    {0x7c6429ae, "stbx 3,4,5", "store"},
    {0xd8250008, "stfd 1,8(5)", "store"},
    {0x7c242fae, "stfiwx 1,4,5", "store"},
    {0x7c2429ce, "stvx 1,4,5", "store"},
    {0xf4250015, "stxv 1,16(5)", "store"},
    {0x7c242b18, "stxvx 1,4,5", "store"},
    {0x18450021, "stxvp 2,32(5)", "store"},
    {0x7c242b5a, "stxvll 1,4,5", "store"},
    {0x7c242f5a, "stxsihx 1,4,5", "store"},
    {0x7fe11da5, "hashst 3,-8(1)", "store"},
    {0x7c642828, "lwarx 3,4,5", "atomic"},
    {0x7c6428a8, "ldarx 3,4,5", "atomic"},
    {0x7c862a28, "lqarx 4,6,5", "atomic"},
    {0x7c6429ad, "stdcx. 3,4,5", "atomic"},
    {0x7c642d6d, "stbcx. 3,4,5", "atomic"},
    {0x7c642ccc, "ldat 3,4,5", "atomic"},
    {0x7c642d8c, "stwat 3,4,5", "atomic"},
    {0x7c042fec, "dcbz 4,5", "cache"},
    {0x7c042a2c, "dcbt 4,5", "cache"},
    {0x7c0429ec, "dcbtst 4,5", "cache"},
    {0x7c0428ac, "dcbf 4,5", "cache"},
    {0x7c042fac, "icbi 4,5", "cache"},
    {0x7c0004ac, "sync", "sync"},
    {0x7c2004ac, "lwsync", "sync"},
    {0x4c00012c, "isync", "sync"},
    {0x7c0006ac, "eieio", "sync"},
    {0x7c4004ac, "ptesync", "sync"},
    {0x7c00046c, "tlbsync", "sync"},
    {0x7c00003c, "wait", "sync"},
    {0xfc22182a, "fadd 1,2,3", "float"},
    {0xec22182a, "fadds 1,2,3", "float"},
    {0xec20169c, "fcfids 1,2", "float"},
    {0xec2220fa, "fmadds 1,2,3,4", "float"},
    {0xec221804, "dadd 1,2,3", "float"},
    {0xfc011000, "fcmpu 0,1,2", "float"},
    {0xfc221808, "xsaddqp 1,2,3", "float"},
    {0x10221800, "vaddubm 1,2,3", "vector"},
    {0xf0221b00, "xvadddp 1,2,3", "vector"},
    {0xf0221900, "xsadddp 1,2,3", "vector"},
    {0x7c24280c, "lvsl 1,4,5", "vector"},
    {0x7c230166, "mtvsrd 1,3", "vector"},
    {0x7c230066, "mfvsrd 3,1", "vector"},
    {0xec8218d8, "xvf32ger 1,2,3", "vector"},
    {0xec821810, "xvi8ger4pp 1,2,3", "vector"},
    {0xec821998, "xvbf16ger2 1,2,3", "vector"},
    {0x7c6802a6, "mflr 3", "spr"},
    {0x7c6903a6, "mtctr 3", "spr"},
    {0x7c6c42a6, "mftb 3", "spr"},
    {0x44000002, "sc", "system"},
    {0x44000001, "scv 0", "system"},
    {0x4c000024, "rfid", "system"},
    {0x4c000224, "hrfid", "system"},
    {0x4c0000a4, "rfscv", "system"},
    {0x4c0002e4, "stop", "system"},
    {0x7c6000a6, "mfmsr 3", "system"},
    {0x7c600164, "mtmsrd 3", "system"},
    {0x08830005, "tdi 4,3,5", "system"},
    {0x7c832808, "tw 4,3,5", "system"},
    {0x7c602324, "slbmte 3,4", "system"},
    {0x7c0003e4, "slbia", "system"},
    {0x7c801a64, "tlbie 3,4,0,0,0", "system"},
    {0x7c00191c, "msgsndp 3", "system"},
    {0x7c242e0c, "copy 4,5", "system"},
};

struct PrefixedExample {
  uint32_t prefix, suffix;
  const char* name;
  const char* expected;
};

constexpr PrefixedExample kPrefixed[] = {
    {0x06000000, 0x38640005, "paddi 3,4,5", "integer"},
    {0x07000000, 0x00000000, "pnop", "integer"},
    {0x04000000, 0xe4650008, "pld 3,8(5)", "load"},
    {0x06000000, 0x80650008, "plwz 3,8(5)", "load"},
    {0x04000000, 0xa4650008, "plwa 3,8(5)", "load"},
    {0x04000000, 0xe0850010, "plq 4,16(5)", "load"},
    {0x06000000, 0xc8250008, "plfd 1,8(5)", "load"},
    {0x04000000, 0xc8250010, "plxv 1,16(5)", "load"},
    {0x04000000, 0xe8450020, "plxvp 2,32(5)", "load"},
    {0x04000000, 0xa8250008, "plxsd 1,8(5)", "load"},
    {0x04000000, 0xf4650008, "pstd 3,8(5)", "store"},
    {0x06000000, 0x90650008, "pstw 3,8(5)", "store"},
    {0x04000000, 0xf0850010, "pstq 4,16(5)", "store"},
    {0x04000000, 0xd8250010, "pstxv 1,16(5)", "store"},
    {0x04000000, 0xf8450020, "pstxvp 2,32(5)", "store"},
    {0x06000000, 0xd0250008, "pstfs 1,8(5)", "store"},
    {0x05000000, 0x80260005, "xxspltiw 1,5", "vector"},
    {0x05000005, 0x88221900, "xxpermx 1,2,3,4,5", "vector"},
    {0x07900045, 0xec8218d8, "pmxvf32ger 1,2,3,4,5", "vector"},
};

}  // namespace

TEST_CASE("instructions are classified by their kind of work") {
  for (const Example& example : kExamples) {
    CAPTURE(example.name);
    CHECK(name_of(class_of_word(example.opcode)) == example.expected);
  }
  for (const PrefixedExample& example : kPrefixed) {
    CAPTURE(example.name);
    CHECK(name_of(class_of_prefixed(example.prefix, example.suffix)) == example.expected);
  }
}

TEST_CASE("an unknown opcode has no class") {
  Instruction instruction;
  CHECK(class_of(instruction) == InstructionClass::kUnknown);
  CHECK(class_of_word(0) == InstructionClass::kUnknown);
  instruction.opcode = 0x48000000;
  instruction.has_opcode = true;
  CHECK(class_of(instruction) == InstructionClass::kBranch);
}

}  // namespace htmtrace
