// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the encoder with published words, and its branch recoding with the published decoding.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>

#include "tests/encoder/power10.h"

namespace {

constexpr uint64_t kGuestMsr = 0x8000000000009033;  // SF EE ME IR DR RI LE, as Linux in an LPAR

std::uint32_t bits(std::uint32_t word, int first, int last) {
  return (word >> (31 - last)) & ((1U << (last - first + 1)) - 1);
}

std::uint32_t relative(std::uint64_t ea, unsigned shift, std::uint32_t mode, std::uint64_t low) {
  const std::uint64_t step = mode == 3 ? ~std::uint64_t{0} : mode;
  return static_cast<std::uint32_t>(((((ea >> shift) + step) << shift) | low) - ea);
}

// Restores the branch with the method of the public decoder.
std::uint32_t architected(std::uint32_t stored, std::uint64_t ea) {
  if (bits(stored, 0, 5) == 31 && bits(stored, 26, 30) == 15) return stored;
  const std::uint32_t lk = bits(stored, 1, 1);
  const std::uint32_t mode = bits(stored, 2, 3);
  const std::uint32_t form = bits(stored, 11, 12);
  const std::uint32_t bi = bits(stored, 10, 10) << 4 | bits(stored, 15, 18);
  std::uint32_t bo = bits(stored, 5, 8) << 1 | bits(stored, 13, 13);
  if (form == 0) {
    const std::uint32_t low = (bits(stored, 4, 10) << 17 | bits(stored, 15, 31)) << 2;
    if (mode == 2) return 0x48000002 | low | lk;
    return 0x48000000 | (relative(ea, 26, mode, low) & 0x03fffffc) | lk;
  }
  if (form == 1) {
    const std::uint32_t low = (bits(stored, 4, 4) << 13 | bits(stored, 19, 31)) << 2;
    const std::uint32_t base = 0x40000000 | bo << 21 | bi << 16 | lk;
    if (mode == 2) return base | 2 | low;
    return base | (relative(ea, 16, mode, low) & 0xfffc);
  }
  if (bits(stored, 8, 8) == 0) bo &= ~1U;
  const std::uint32_t operands = bo << 21 | bi << 16 | bits(stored, 21, 22) << 11 | lk;
  if (form == 2) return 0x4c000020 | operands;
  const std::uint32_t primary = bits(stored, 0, 5);
  if (primary == 17 || primary == 31 || (primary == 19 && bits(stored, 26, 30) == 18)) {
    return stored & ~0x001e0000U;
  }
  return 0x4c000420 | operands | (bits(stored, 20, 20) != 0 ? 0x40U : 0U);
}

bool recodes(std::uint32_t instruction, std::uint64_t ea) {
  std::uint32_t stored = 0;
  if (!power10_recode_branch(instruction, ea, &stored)) return false;
  CHECK(architected(stored, ea) == instruction);
  return true;
}

}  // namespace

TEST_CASE("the published POWER10 vector: one line, one cmpld") {
  std::array<uint64_t, kPower10IearaWords> line{};
  power10_ieara(line.data(), 0xc000000000ed8db4, 0xed8db4);
  CHECK(line[0] == 0x000000003abcdf00);
  CHECK(line[1] == 0xc000000000ed8d80);
  CHECK(line[2] == 0x0000000ed8000000);
  CHECK(power10_info(0x7c3f4840, 0xc000000000ed8db4, false, false, kPower10NoOperand) ==
        0x7c3f48402abcdf34);
  CHECK(power10_msr(0x9000000000009033) == 0xb8c0000000000000);
}

TEST_CASE("mode bits: guest kernel, guest user, secure, transactional") {
  CHECK(power10_msr(kGuestMsr) == 0x38c0000000000000);
  CHECK(power10_msr(kGuestMsr | 0x4000) == 0x78c0000000000000);
  CHECK(power10_msr(0x0000000000400000) == 0x0400000000000000);
  CHECK(power10_msr(0x0000000600000000) == 0x0300000000000000);
}

TEST_CASE("data words") {
  CHECK(power10_info(0xe8640000, 0x1000007c, false, true, kPower10TwoPairs) == 0xe86400006abcdf7e);
  CHECK(power10_prefix(0x04100000) == 0x0410000000000000);
  CHECK(power10_dra(0x1ffffffffff123) == 0xffffffffff800000);
  CHECK(power10_dra(0x6ffe) == 0x0000000003000000);
  CHECK(power10_esid(0xc00000000) == 0xc000000000000000);
  CHECK(power10_vsid(1, 1) == 0x4000000000001000);
}

TEST_CASE("walk words") {
  CHECK(power10_xlate(false, 0, 0) == 0x000000001abcdf00);
  CHECK(power10_xlate(true, 0xfff, 0xfffff) == 0xffffffff9abcdf00);
  CHECK(power10_walk(kPower10WalkHost, kPower10LevelTableEntry, 0x1238) == 0x1e00000000001238);
  CHECK(power10_walk(kPower10WalkGuest, kPower10LevelPmd, 0x1238) == 0x2400000000001238);
  CHECK(power10_walk(kPower10WalkFinal | kPower10WalkGuest | kPower10WalkHost, kPower10Page1G, 0) ==
        0xb800000000000000);
  CHECK(power10_walk_end() == 0x0100000000000000);
}

TEST_CASE("stamps") {
  CHECK(power10_record(3) == 0xaceff00300000000);
  CHECK(power10_complete(0x0abcdef0) == 0xaceff1000abcdef0);
  CHECK(power10_pause(1) == 0xaceff20000000001);
  CHECK(power10_mark(0xf, 0, 0, 0, false) == 0xaceff3f000000000);
  CHECK(power10_mark(1, 2, 3, 4, true) == 0xaceff31401802001);
  CHECK(power10_sync() == 0xaceff40000000000);
  CHECK(power10_time(kPower10TimeElapsed, 0, 0x123) == 0xaceff80000000123);
  CHECK(power10_time(kPower10TimeTraceFull, 0, 0) == 0xaceff82000000000);
  CHECK(power10_time(kPower10TimeRecordsDropped, 0xff, 0) == 0xaceffa0ff0000000);
  std::array<uint64_t, kPower10CompanionWords> pair{};
  power10_companion(pair.data(), 0xfffffffff, 7, power10_sync());
  CHECK(pair[0] == 0x3ffefffffffff007);
  CHECK(pair[1] == power10_sync());
}

TEST_CASE("bytes are big-endian") {
  std::array<uint8_t, 8> bytes{};
  power10_store(bytes.data(), 0x0102030405060708);
  for (unsigned i = 0; i < bytes.size(); i++) CHECK(bytes.at(i) == i + 1);
}

TEST_CASE("each kind of branch survives the round trip") {
  const std::uint64_t ea = 0xc000000003fffff0;
  CHECK(recodes(0x48000010, ea));  // b .+16, into the next 64 MiB
  CHECK(recodes(0x4bfffffd, ea));  // bl .-4
  CHECK(recodes(0x4bfffffc, 0xc000000004000000));
  CHECK(recodes(0x48000103, ea));                  // bla 0x100
  CHECK(recodes(0x4bffff02, ea));                  // ba, upper half
  CHECK(recodes(0x4182fff8, 0xc000000000010004));  // beq, into the 64 KiB before
  CHECK(recodes(0x42000010, 0x1000fff8));          // bdnz, into the 64 KiB after
  CHECK(recodes(0x409f0102, ea));                  // bnea cr7,0x100
  CHECK(recodes(0x4e800020, ea));                  // blr
  CHECK(recodes(0x4e800421, ea));                  // bctrl
  CHECK(recodes(0x4e800460, ea));                  // bctar
  CHECK(recodes(0x4e801420, ea));                  // bctr with BH
  CHECK(recodes(0x4dde0020, ea));                  // beqlr- cr7
  for (const std::uint32_t serializing :
       {0x44000002U, 0x44000022U, 0x44000001U, 0x4c000024U, 0x4c000224U, 0x4c0000a4U, 0x7c600124U,
        0x7c600164U, 0x7c610164U}) {
    CHECK(recodes(serializing, ea));
  }
}

TEST_CASE("other instructions, and branches that cannot be restored, are not recoded") {
  std::uint32_t stored = 0;
  for (const std::uint32_t instruction :
       {0x60000000U /* nop */, 0x7c3f4840U /* cmpld */, 0x7c64281eU /* isel */,
        0x4c00012cU /* isync */, 0x4c000000U /* mcrf */, 0x4c42d242U /* crnor-like */,
        0x4f200020U /* bdnzlr+: its hint has no room */, 0x4e80e020U /* reserved bits */,
        0x7c6000a6U /* mfmsr */}) {
    CHECK_FALSE(power10_recode_branch(instruction, 0x1000, &stored));
  }
  // A bl from 0x4000000 whose stored form (0x7fe1001e) would decode as isel.
  const auto bl = static_cast<std::uint32_t>(0x48000001U | ((0x3fc0078 - 0x4000000) & 0x03fffffc));
  CHECK_FALSE(power10_recode_branch(bl, 0x4000000, &stored));
  CHECK(recodes(bl + 0x80, 0x4000000));
}

TEST_CASE("random branches at random addresses survive the round trip") {
  std::mt19937_64 random(10);
  unsigned recoded = 0;
  for (int i = 0; i < 200000; i++) {
    const auto fields = static_cast<std::uint32_t>(random());
    const std::uint64_t ea = random() & ~std::uint64_t{3};
    const std::uint32_t primary = std::array{16U, 18U, 19U, 17U}.at(random() % 4);
    if (recodes(primary << 26 | (fields & 0x03ffffff), ea)) recoded++;
  }
  CHECK(recoded > 90000);
}
