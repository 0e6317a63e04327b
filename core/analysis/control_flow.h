// SPDX-License-Identifier: GPL-2.0-or-later
// Possible successors of an instruction, from its word. Power ISA 3.1, Book I, chapter 2, and Book
// III, chapter 4 ("System Linkage Instructions").
#pragma once

#include <array>
#include <cstdint>

#include "core/core_trace/stamp.h"

namespace htmtrace {

enum class BranchKind : uint8_t {
  kNone,
  kConditional,    // may continue at the next instruction
  kUnconditional,  // branches that are always taken, system calls, returns from interrupts
};

namespace control_flow {

constexpr unsigned primary(uint32_t word) {
  return word >> 26;
}
constexpr unsigned extended(uint32_t word) {
  return word >> 1 & 0x3ff;
}

// Returns 1 for BO 1z1zz: branch always.
constexpr unsigned always_by_bo(uint32_t word) {
  constexpr uint32_t kAlwaysBits = 0x14U << 21;
  return (word & kAlwaysBits) == kAlwaysBits ? 1 : 0;
}

// The kind of a branch whose BO is not "branch always"; with that BO, the kind is the next
// enumerator. Indexed by primary opcode, followed by the extended opcodes of primary opcode 19. The
// processor cannot predict the next kind, so a table is cheaper than branches.
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

// Inlined by force: writers and analyses call it for each instruction.
[[gnu::always_inline]] constexpr BranchKind branch_kind(uint32_t word) {
  using namespace control_flow;
  const BranchKind kind =
      kBranchKinds[primary(word) == 19 ? kPrimaries + extended(word) : primary(word)];
  const unsigned always = kind == BranchKind::kConditional ? always_by_bo(word) : 0;
  return static_cast<BranchKind>(static_cast<unsigned>(kind) + always);
}

// True if the instruction stores the next address in the link register, like a call.
constexpr bool sets_link(uint32_t word) {
  const unsigned primary = control_flow::primary(word);
  if (primary == 16 || primary == 18) return (word & 1) != 0;
  if (primary != 19 || (word & 1) == 0) return false;
  const unsigned extended = control_flow::extended(word);
  return extended == 16 || extended == 528 || extended == 560;
}

// True if the instruction jumps to the link register and leaves it unchanged, like a return.
constexpr bool returns_by_link(uint32_t word) {
  return control_flow::primary(word) == 19 && control_flow::extended(word) == 16 && (word & 1) == 0;
}

// b and bc encode their target; the other branches read their target from a register.
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

// True if the processor starts handling an interrupt at this address, for each relocation that
// LPCR[AIL] allows. Power ISA 3.1, Book III, 7.2.1 (LPCR) and figure 51 (interrupt vectors):
// - Architected vectors lie 0x20 bytes apart, from 0x100 to 0xfe0.
// - Implementation-specific vectors lie below 0x2000.
// - scv has the vector 0x3000 or 0x17000.
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

// The next instruction may not follow the last instruction before the stamp: tracing stopped, or
// the hardware dropped records.
inline bool breaks_flow(const Stamp& stamp) {
  return stamp.kind == StampKind::kRecord || stamp.kind == StampKind::kPause ||
         stamp.kind == StampKind::kComplete || stamp.losses.records != 0 ||
         stamp.losses.records_overflow || stamp.losses.unknown;
}

}  // namespace htmtrace
