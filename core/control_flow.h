// SPDX-License-Identifier: GPL-2.0-or-later
// Where an instruction can send the processor next, by its word. Power ISA 3.1, Book I, chapter 2,
// and Book III, chapter 4 ("System Linkage Instructions").
#pragma once

#include <array>
#include <cstdint>

#include "core/stamp.h"

namespace htmtrace {

enum class BranchKind : uint8_t {
  kNone,
  kConditional,    // may also go on behind it
  kUnconditional,  // branches that always do, system calls, returns from interrupts
};

namespace control_flow {

constexpr unsigned primary(uint32_t word) {
  return word >> 26;
}
constexpr unsigned extended(uint32_t word) {
  return word >> 1 & 0x3ff;
}

// BO of 1z1zz: branch always.
constexpr unsigned always_by_bo(uint32_t word) {
  constexpr uint32_t kAlwaysBits = 0x14U << 21;
  return (word & kAlwaysBits) == kAlwaysBits ? 1 : 0;
}

// What a branch is if its BO is not that; if it is, it is the kind behind. By primary opcode, and
// behind those by the extended one of primary opcode 19. Branches come as no processor foresees: a
// table is cheaper than branches.
inline constexpr unsigned kPrimaries = 64;
inline constexpr auto kBranchKinds = [] {
  std::array<BranchKind, kPrimaries + 1024> rows{};
  rows[16] = BranchKind::kConditional;    // bc
  rows[17] = BranchKind::kUnconditional;  // sc, scv
  rows[18] = BranchKind::kUnconditional;  // b
  for (const unsigned by_bo : {16, 528, 560})
    rows[kPrimaries + by_bo] = BranchKind::kConditional;  // bclr bcctr bctar
  // rfid, rfscv, rfebb, hrfid, urfid
  for (const unsigned always : {18, 82, 146, 274, 306})
    rows[kPrimaries + always] = BranchKind::kUnconditional;
  return rows;
}();

}  // namespace control_flow

constexpr BranchKind branch_kind(uint32_t word) {
  using namespace control_flow;
  const BranchKind kind =
      kBranchKinds[primary(word) == 19 ? kPrimaries + extended(word) : primary(word)];
  const unsigned always = kind == BranchKind::kConditional ? always_by_bo(word) : 0;
  return static_cast<BranchKind>(static_cast<unsigned>(kind) + always);
}

// It leaves the address behind it in the link register, as calls do.
constexpr bool sets_link(uint32_t word) {
  const unsigned primary = control_flow::primary(word);
  if (primary == 16 || primary == 18) return (word & 1) != 0;
  if (primary != 19 || (word & 1) == 0) return false;
  const unsigned extended = control_flow::extended(word);
  return extended == 16 || extended == 528 || extended == 560;
}

// It goes to what the link register holds and leaves it as it is, as returns do.
constexpr bool returns_by_link(uint32_t word) {
  return control_flow::primary(word) == 19 && control_flow::extended(word) == 16 && (word & 1) == 0;
}

// b and bc name their target; the other branches read it from a register.
constexpr bool is_direct_branch(uint32_t word) {
  const unsigned primary = control_flow::primary(word);
  return primary == 16 || primary == 18;
}

// The target of a direct branch at `ea`. Power ISA 3.1, Book I, 2.4.
constexpr uint64_t direct_target(uint32_t word, uint64_t ea) {
  const unsigned bits = control_flow::primary(word) == 18 ? 26 : 16;
  const uint64_t field = word & ((uint64_t{1} << bits) - 4);
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const uint64_t displacement = (field ^ sign) - sign;
  return (word & 2) != 0 ? displacement : ea + displacement;
}

// Returns whether the processor begins to handle an interrupt at this address, for each relocation
// that LPCR[AIL] allows. Power ISA 3.1, Book III, 7.2.1 (LPCR) and figure 51 (interrupt vectors):
// one vector each 0x20 bytes from 0x100 to 0xfe0; implementation-specific vectors lie below 0x2000;
// scv has 0x3000 or 0x17000.
constexpr bool is_interrupt_vector(uint64_t ea) {
  constexpr uint64_t kRelocated = 0xc000000000004000, kRelocatedLow = 0x18000;
  constexpr uint64_t kScvRelocated = 0xc000000000003000, kScvReal = 0x17000;
  const auto within = [ea](uint64_t base, uint64_t first, uint64_t end) {
    return ea - base >= first && ea - base < end;
  };
  if ((ea & 0x1f) != 0) return false;
  return within(0, 0x100, 0x2000) || within(kRelocated, 0x100, 0x2000) ||
         within(kRelocatedLow, 0x100, 0x2000) || within(kScvRelocated, 0, 0x1000) ||
         within(kScvReal, 0, 0x1000);
}

// Instructions before and behind the stamp need not have followed one another: tracing stopped, or
// records were dropped.
inline bool breaks_flow(const Stamp& stamp) {
  return stamp.kind == StampKind::kRecord || stamp.kind == StampKind::kPause ||
         stamp.kind == StampKind::kComplete || stamp.losses.records != 0 ||
         stamp.losses.records_overflow || stamp.losses.unknown;
}

}  // namespace htmtrace
