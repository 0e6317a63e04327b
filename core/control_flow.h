// SPDX-License-Identifier: GPL-2.0-or-later
// Where an instruction can send the processor next, by its word. Power ISA 3.1, Book I, chapter 2,
// and Book III, chapter 4 ("System Linkage Instructions").
#pragma once

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
constexpr BranchKind kind_by_bo(uint32_t word) {
  const uint32_t bo = word >> 21 & 31;
  return (bo & 0x14) == 0x14 ? BranchKind::kUnconditional : BranchKind::kConditional;
}

}  // namespace control_flow

constexpr BranchKind branch_kind(uint32_t word) {
  switch (control_flow::primary(word)) {
    case 16:  // bc
      return control_flow::kind_by_bo(word);
    case 17:  // sc, scv
    case 18:  // b
      return BranchKind::kUnconditional;
    case 19:
      break;
    default:
      return BranchKind::kNone;
  }
  switch (control_flow::extended(word)) {
    case 16:   // bclr
    case 528:  // bcctr
    case 560:  // bctar
      return control_flow::kind_by_bo(word);
    case 18:   // rfid
    case 82:   // rfscv
    case 146:  // rfebb
    case 274:  // hrfid
    case 306:  // urfid
      return BranchKind::kUnconditional;
    default:
      return BranchKind::kNone;
  }
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
