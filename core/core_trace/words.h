// SPDX-License-Identifier: GPL-2.0-or-later
// The position of each field in a core-trace word. This header owns the layout; no other file
// shifts or masks a trace word.
//
// A core trace is a sequence of 64-bit big-endian words without header or length. Bit numbers
// follow IBM's convention: bit 0 is the most significant bit, and ranges are inclusive.
// man/htm-core-trace.5 describes the records, names the sections below and lists the unconfirmed
// facts. The public decoder in open-power's qtrace-tools (directory htm/) reads the same layouts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace htmtrace::words {

inline constexpr size_t kWordBytes = 8;

// Bits first..last of a word, as a number.
constexpr uint64_t bits(uint64_t word, unsigned first, unsigned last) {
  const unsigned width = last - first + 1;
  const uint64_t shifted = word >> (63 - last);
  return width == 64 ? shifted : shifted & ((uint64_t{1} << width) - 1);
}

constexpr bool bit(uint64_t word, unsigned position) {
  return bits(word, position, position) != 0;
}

// ------------------------------------------------------------------------------ FRAMING
// Fields of the first word of a record.

constexpr bool is_filler(uint64_t word) {
  return word == 0;
}
constexpr bool is_stamp(uint64_t word) {
  return bits(word, 0, 19) == 0xaceff;
}
constexpr bool is_power8(uint64_t word) {
  return bits(word, 36, 55) == 0xabcde;
}
constexpr bool is_power10(uint64_t word) {
  return bits(word, 36, 55) == 0xabcdf;
}

// The word before a stamp, if the two words form a 16-byte entry.
constexpr bool is_companion(uint64_t word) {
  return bits(word, 0, 15) == 0x3ffe && bits(word, 52, 60) == 0;
}

// A stamp, or the word before a stamp. Few other words share the common bits of these two prefixes,
// so a single comparison rejects nearly all words.
constexpr bool is_stamp_or_companion(uint64_t word) {
  constexpr uint64_t kCommonBits = (0xffff & ~(uint64_t{0xacef} ^ 0x3ffe)) << 48;
  constexpr uint64_t kCommon = kCommonBits & uint64_t{0xacef} << 48;
  return (word & kCommonBits) == kCommon && (is_stamp(word) || is_companion(word));
}

// ------------------------------------------------------------------------------ STAMPS

constexpr unsigned stamp_type(uint64_t word) {
  return static_cast<unsigned>(bits(word, 20, 23));
}
constexpr unsigned record_counter(uint64_t word) {
  return static_cast<unsigned>(bits(word, 24, 31));
}
constexpr uint32_t elapsed_ticks(uint64_t word) {
  return static_cast<uint32_t>(bits(word, 36, 63));
}

// TIME: bit 20 is set. Bits 20-27 identify the counter or flag that made the hardware write the
// stamp.
constexpr unsigned time_indicator(uint64_t word) {
  return static_cast<unsigned>(bits(word, 20, 27));
}
constexpr unsigned time_dropped(uint64_t word) {
  return static_cast<unsigned>(bits(word, 28, 35));
}

// MARK in POWER10's layout and in POWER8's layout (open-power's hw-trace). The word does not
// identify its layout; the surrounding records do.
constexpr unsigned mark_group(uint64_t word) {
  return static_cast<unsigned>(bits(word, 24, 27));
}
constexpr unsigned mark_chip(uint64_t word) {
  return static_cast<unsigned>(bits(word, 28, 30));
}
constexpr unsigned mark_unit(uint64_t word) {
  return static_cast<unsigned>(bits(word, 31, 40));
}
constexpr unsigned mark_value(uint64_t word) {
  return static_cast<unsigned>(bits(word, 41, 52));
}
constexpr bool mark_dropped(uint64_t word) {
  return bit(word, 63);
}
constexpr unsigned mark8_node(uint64_t word) {
  return static_cast<unsigned>(bits(word, 24, 26));
}
constexpr unsigned mark8_chip(uint64_t word) {
  return static_cast<unsigned>(bits(word, 27, 29));
}
constexpr unsigned mark8_unit(uint64_t word) {
  return static_cast<unsigned>(bits(word, 30, 37));
}
constexpr unsigned mark8_value(uint64_t word) {
  return static_cast<unsigned>(bits(word, 38, 49));
}

// The 36-bit timer of a companion word.
constexpr uint64_t companion_timer(uint64_t word) {
  return bits(word, 16, 51);
}

// ------------------------------------------------------------------------------ POWER8 RECORDS
// INFO, [IEA], [IRA], [DEA or ESID], [DRA or VSID]

constexpr uint32_t opcode(uint64_t word) {
  return static_cast<uint32_t>(bits(word, 0, 31));
}
constexpr unsigned primary_opcode(uint64_t word) {
  return static_cast<unsigned>(bits(word, 0, 5));
}
constexpr bool info_branch(uint64_t word) {
  return bit(word, 32);
}
constexpr unsigned info8_reserved(uint64_t word) {
  return static_cast<unsigned>(bits(word, 34, 35));
}
constexpr bool info8_valid(uint64_t word) {
  return bit(word, 56);
}
constexpr bool info8_has_iea(uint64_t word) {
  return bit(word, 57);
}
constexpr bool info8_has_ira(uint64_t word) {
  return bit(word, 58);
}
constexpr bool info8_has_dea(uint64_t word) {
  return bit(word, 59);
}
constexpr bool info8_has_dra(uint64_t word) {
  return bit(word, 60);
}
constexpr bool info8_segment(uint64_t word) {
  return bit(word, 61);
}

// A POWER8 INFO of a valid instruction that does not look like a stamp.
constexpr bool is_plain_info8(uint64_t word) {
  return bits(word, 34, 56) == (uint64_t{0xabcde} << 1 | 1) && opcode(word) != 0 && !is_stamp(word);
}
// Includes the words that the INFO announces.
constexpr unsigned info8_record_words(uint64_t word) {
  return 1 + (info8_has_iea(word) ? 1U : 0U) + (info8_has_ira(word) ? 1U : 0U) +
         (info8_has_dea(word) ? 1U : 0U) + (info8_has_dra(word) ? 1U : 0U);
}

constexpr uint64_t iea_address(uint64_t word) {
  return word & ~uint64_t{3};
}
constexpr bool iea_hypervisor(uint64_t word) {
  return bit(word, 62);  // MSR[HV]
}
constexpr bool iea_relocated(uint64_t word) {
  return bit(word, 63);  // MSR[IR]
}

// The real page as an address. The size code gives the number of low bits from the effective
// address: 12, 16 or 24. A code without a page size gives 0.
constexpr uint64_t ira_page(uint64_t word) {
  return bits(word, 0, 37) << 12;
}
constexpr unsigned ira_shift(uint64_t word) {
  constexpr unsigned kShifts[] = {0, 12, 16, 24};
  return kShifts[bits(word, 38, 39)];
}
constexpr bool ira_tail_clear(uint64_t word) {
  return bits(word, 41, 63) == 0;
}

constexpr uint64_t dra8_page(uint64_t word) {
  return bits(word, 2, 39) << 12;
}
constexpr unsigned dra8_shift(uint64_t word) {
  constexpr unsigned kShifts[] = {12, 16, 0, 24};
  return kShifts[bits(word, 0, 1)];
}

// ------------------------------------------------------------------------------ POWER10 RECORDS
// { XLATE(I) | IEARA | XLATE(D) }...  INFO MSR [PREFIX] { DEA DRA }{0..2} or ESID VSID

enum class Power10Type : uint8_t { kIllegal = 0, kXlate = 1, kInfo = 2, kIeara = 3 };

constexpr Power10Type power10_type(uint64_t word) {
  return static_cast<Power10Type>(bits(word, 34, 35));
}

constexpr bool is_xlate(uint64_t word) {
  return bits(word, 34, 55) == (uint64_t{1} << 20 | 0xabcdf) && !is_stamp(word);
}

constexpr bool is_info10(uint64_t word) {
  return bits(word, 34, 55) == (uint64_t{2} << 20 | 0xabcdf) && !is_stamp(word);
}

inline constexpr uint64_t kLineBytes = 128;  // IEARA identifies a line of this size

// IEARA: header, line EA, real page. The header's other bits are clear in every known trace.
inline constexpr unsigned kIearaWords = 3;
inline constexpr uint64_t kIearaHeader = 0x000000003abcdf00;
constexpr uint64_t ieara_line(uint64_t word) {
  return word & ~(kLineBytes - 1);
}
constexpr uint64_t ieara_page(uint64_t word) {
  return bits(word, 0, 39) << 12;
}
constexpr bool ieara_page_tail_clear(uint64_t word) {
  return bits(word, 40, 63) == 0;
}

constexpr bool info10_prefixed(uint64_t word) {
  return bit(word, 33);
}
constexpr uint64_t info10_line_offset(uint64_t word) {
  return bits(word, 56, 61) << 2;
}
constexpr unsigned info10_operands(uint64_t word) {
  return static_cast<unsigned>(bits(word, 62, 63));
}
inline constexpr unsigned kSegmentOperands = 3;  // one ESID + VSID; 0..2 count DEA + DRA pairs

// The kind of an INFO: the bits that describe the contents of its record. The processor cannot
// predict the next kind, so tables by kind are cheaper than branches.
inline constexpr unsigned kInfo10Kinds = 16;
inline constexpr unsigned kInfo10BranchKind = 8;  // set in the kind of a branch
constexpr unsigned info10_kind(uint64_t word) {
  return static_cast<unsigned>(bits(word, 32, 33) << 2 | bits(word, 62, 63));
}
// An INFO of the kind. Its other bits are clear.
constexpr uint64_t info10_of_kind(unsigned kind) {
  return uint64_t{kind >> 2} << 30 | (kind & 3);
}

// HV PR IR DR EE S TS(2) LE SF. The following bits are clear in every known trace.
constexpr unsigned msr_modes(uint64_t word) {
  return static_cast<unsigned>(bits(word, 0, 9));
}
constexpr bool msr_tail_clear(uint64_t word) {
  return bits(word, 10, 63) == 0;
}

constexpr uint64_t dra10_page(uint64_t word) {
  return bits(word, 0, 40) << 12;
}
constexpr bool dra10_tail_clear(uint64_t word) {
  return bits(word, 41, 63) == 0;
}
// A DRA without a stamp. A POWER10 tag would set bits of the tail. Inlined by force, because the
// fast path calls it for each access.
[[gnu::always_inline]] constexpr bool is_plain_dra10(uint64_t word) {
  return dra10_tail_clear(word) && !is_stamp_or_companion(word);
}

// XLATE: header, walk words, and a word with the end bit, which is no step of the walk.
inline constexpr unsigned kXlateWords = 39;  // header + at most 38
constexpr bool xlate_data_side(uint64_t word) {
  return bit(word, 0);
}
constexpr bool xlate_reserved_clear(uint64_t word) {
  return !bit(word, 33) && bits(word, 56, 63) == 0;
}
constexpr uint32_t xlate_lpid(uint64_t word) {
  return static_cast<uint32_t>(bits(word, 1, 12));
}
constexpr uint32_t xlate_pid(uint64_t word) {
  return static_cast<uint32_t>(bits(word, 13, 32));
}
constexpr unsigned walk_level(uint64_t word) {
  return static_cast<unsigned>(bits(word, 4, 6));
}
constexpr uint64_t walk_address(uint64_t word) {
  return word & 0x00fffffffffffff8;
}
constexpr bool walk_end(uint64_t word) {
  return bit(word, 7);
}
constexpr bool walk_exception(uint64_t word) {
  return bit(word, 1);
}

enum class WalkKind : uint8_t {
  kUnknown,
  kHostEntry,       // a partition-scoped table entry, read by the processor
  kGuestEntry,      // a process-scoped entry, guest real address
  kGuestEntryHost,  // the same entry's host real address
  kFinalGuest,      // the access itself, guest real address
  kFinalHost,       // the access itself, host real address
};
inline constexpr unsigned kWalkKinds = 6;

// Bits 0 (final address), 2 (guest) and 3 (host) select the kind. Only some levels (bits 4-6) are
// valid for each kind.
constexpr WalkKind walk_kind_of(unsigned first_seven_bits) {
  constexpr unsigned kEntryLevels = 1U << 0 | 1U << 2 | 1U << 4 | 1U << 6 | 1U << 7;
  constexpr unsigned kPageSizes = 1U << 0 | 1U << 1 | 1U << 2 | 1U << 3 | 1U << 4 | 1U << 6;
  const uint64_t word = uint64_t{first_seven_bits} << 57;
  const bool final_address = bit(word, 0);
  const unsigned allowed = final_address ? kPageSizes : kEntryLevels;
  if ((allowed >> bits(word, 4, 6) & 1) == 0) return WalkKind::kUnknown;
  switch (bits(word, 2, 3) | (final_address ? 4U : 0U)) {
    case 1:
      return WalkKind::kHostEntry;
    case 2:
      return WalkKind::kGuestEntry;
    case 3:
      return WalkKind::kGuestEntryHost;
    case 6:
      return WalkKind::kFinalGuest;
    case 7:
      return WalkKind::kFinalHost;
    default:
      return WalkKind::kUnknown;
  }
}

// The processor cannot predict the kind of the next word, so a table replaces branches.
inline constexpr auto kWalkKindTable = [] {
  std::array<WalkKind, 128> kinds{};
  for (unsigned i = 0; i < kinds.size(); i++) kinds[i] = walk_kind_of(i);
  return kinds;
}();
constexpr WalkKind walk_kind(uint64_t word) {
  return kWalkKindTable[word >> 57];
}

}  // namespace htmtrace::words
