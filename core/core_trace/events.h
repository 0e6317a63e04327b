// SPDX-License-Identifier: GPL-2.0-or-later
// The events of a decoded core trace. Offsets count bytes from the start of the trace.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/address.h"
#include "core/core_trace/modes.h"
#include "core/core_trace/stamp.h"

namespace htmtrace {

// The has_ flags are plain members and not std::optional: copies of partly written optionals cost a
// fifth of the decoding time in store forwarding.
struct DataAccess {
  EffectiveAddr ea;
  RealAddr ra;     // if has_ra
  LogicalAddr la;  // if has_la
  bool has_ra = false;
  bool has_la = false;
};

// One completed instruction. A field that the trace does not report stays unset; the decoder never
// guesses.
struct Instruction {
  uint64_t offset = 0;
  EffectiveAddr ea;     // if has_ea
  RealAddr ra;          // if has_ra
  LogicalAddr la;       // if has_la
  uint32_t opcode = 0;  // if has_opcode; the suffix of a prefixed instruction
  uint32_t prefix = 0;  // if has_prefix
  bool has_ea = false;
  bool has_ra = false;
  bool has_la = false;
  bool has_opcode = false;
  bool has_prefix = false;
  uint8_t data_count = 0;
  Modes modes;
  std::array<DataAccess, 2> data;  // the first data_count elements are valid

  // Prepares the object for the next instruction. Values without their flag keep stale contents.
  void clear() {
    has_ea = has_ra = has_la = has_opcode = has_prefix = false;
    data_count = 0;
  }
  DataAccess& add_data(EffectiveAddr address) {
    DataAccess& added = data[data_count++];
    added.ea = address;
    added.has_ra = added.has_la = false;
    return added;
  }
};

enum class DefectReason : uint8_t {
  kUnknownWord,     // a word that starts no record
  kIllegalRecord,   // a tagged word without a valid record: type 0, POWER8 opcode 0
  kUnconfirmed,     // tagged, after damage, but the next words do not confirm the record
  kUnendedWalk,     // an XLATE without its end word
  kCutRecord,       // the next record starts in place of a word of this record
  kCutByEnd,        // the trace ends inside a record
  kLooseBytes,      // less than a word at the end of the trace
  kUnknownAddress,  // instructions whose address no earlier word gives
  kUnknownBranch,   // a branch in a stored form that no known instruction has
};
inline constexpr unsigned kDefectReasons = 9;

// A range of the trace that cannot be decoded completely.
struct Defect {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;  // skipped bytes; 0 where words are missing
  DefectReason reason = DefectReason::kUnknownWord;

  bool operator==(const Defect&) const = default;
};

// "unknown word", "cut record", ...
const char* defect_reason_name(DefectReason reason);

}  // namespace htmtrace
