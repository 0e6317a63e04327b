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

// Instructions before and behind the stamp need not have followed one another: tracing stopped, or
// records were dropped.
inline bool breaks_flow(const Stamp& stamp) {
  return stamp.kind == StampKind::kRecord || stamp.kind == StampKind::kPause ||
         stamp.kind == StampKind::kComplete || stamp.losses.records != 0 ||
         stamp.losses.records_overflow || stamp.losses.unknown;
}

}  // namespace htmtrace
