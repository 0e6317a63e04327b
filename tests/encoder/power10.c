// SPDX-License-Identifier: GPL-2.0-or-later
#include "power10.h"

// Bits 36-55 of a header word, bits 0-19 of a stamp, bits 0-15 of a companion word.
#define HEADER_TAG (UINT64_C(0xabcdf) << 8)
#define STAMP_TAG (UINT64_C(0xaceff) << 44)
#define COMPANION_TAG (UINT64_C(0x3ffe) << 48)

enum { kXlate = 1, kInfo = 2, kIeara = 3 };  // bits 34-35 of a header word

static uint64_t header(unsigned type) {
  return HEADER_TAG | (uint64_t)type << 28;
}

// `width` bits of `value` whose last one is IBM bit `last`.
static uint64_t field(uint64_t value, unsigned width, unsigned last) {
  return (value & ((UINT64_C(1) << width) - 1)) << (63 - last);
}

void power10_store(uint8_t destination[8], uint64_t word) {
  for (int i = 0; i < 8; i++) destination[i] = (uint8_t)(word >> (56 - 8 * i));
}

void power10_ieara(uint64_t words[kPower10IearaWords], uint64_t ea, uint64_t ra) {
  words[0] = header(kIeara);
  words[1] = ea & ~(uint64_t)(kPower10LineBytes - 1);
  words[2] = field(ra >> 12, 40, 39);
}

uint64_t power10_info(uint32_t opcode, uint64_t ea, bool branch, bool prefixed,
                      enum power10_operands operands) {
  return (uint64_t)opcode << 32 | field(branch, 1, 32) | field(prefixed, 1, 33) | header(kInfo) |
         field((ea % kPower10LineBytes) >> 2, 6, 61) | field(operands, 2, 63);
}

uint64_t power10_msr(uint64_t msr) {
  // The bit's position in the architecture, and the number of bits, in the order of the word.
  static const struct {
    uint8_t last, width;
  } bits[] = {
      {3, 1},   // HV
      {49, 1},  // PR
      {58, 1},  // IR
      {59, 1},  // DR
      {48, 1},  // EE
      {41, 1},  // S
      {30, 2},  // TS
      {63, 1},  // LE
      {0, 1},   // SF
  };
  uint64_t word = 0;
  unsigned position = 0;
  for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
    position += bits[i].width;
    word |= field(msr >> (63 - bits[i].last), bits[i].width, position - 1);
  }
  return word;
}

uint64_t power10_prefix(uint32_t prefix) {
  return (uint64_t)prefix << 32;
}

uint64_t power10_dra(uint64_t ra) {
  return field(ra >> 12, 41, 40);
}

uint64_t power10_esid(uint64_t esid) {
  return field(esid, 36, 35);
}

uint64_t power10_vsid(unsigned segment_size, uint64_t vsid) {
  return field(segment_size, 2, 1) | field(vsid, 50, 51);
}

uint64_t power10_xlate(bool data_side, unsigned lpid, unsigned pid) {
  return header(kXlate) | field(data_side, 1, 0) | field(lpid, 12, 12) | field(pid, 20, 32);
}

uint64_t power10_walk(unsigned kind, unsigned level, uint64_t ra) {
  return field(kind, 4, 3) | field(level, 3, 6) | (ra & UINT64_C(0x00fffffffffffff8));
}

uint64_t power10_walk_end(void) {
  return field(1, 1, 7);
}

uint64_t power10_record(uint8_t count) {
  return STAMP_TAG | field(count, 8, 31);
}

uint64_t power10_complete(uint32_t elapsed) {
  return STAMP_TAG | field(1, 4, 23) | field(elapsed, 28, 63);
}

uint64_t power10_pause(uint32_t elapsed) {
  return STAMP_TAG | field(2, 4, 23) | field(elapsed, 28, 63);
}

uint64_t power10_sync(void) {
  return STAMP_TAG | field(4, 4, 23);
}

uint64_t power10_mark(unsigned group, unsigned chip, unsigned unit, unsigned marker, bool dropped) {
  return STAMP_TAG | field(3, 4, 23) | field(group, 4, 27) | field(chip, 3, 30) |
         field(unit, 10, 40) | field(marker, 12, 52) | field(dropped, 1, 63);
}

uint64_t power10_time(enum power10_time indicator, uint8_t dropped, uint32_t elapsed) {
  return STAMP_TAG | field(indicator, 8, 27) | field(dropped, 8, 35) | field(elapsed, 28, 63);
}

void power10_companion(uint64_t words[kPower10CompanionWords], uint64_t timer, unsigned code,
                       uint64_t stamp) {
  words[0] = COMPANION_TAG | field(timer, 36, 51) | field(code, 3, 63);
  words[1] = stamp;
}

// ---------------------------------------------------------------------------------- branches
// Numbers of instruction fields are the Power ISA's.

enum { kPrimaryBc = 16, kPrimarySc = 17, kPrimaryB = 18, kPrimary19 = 19, kPrimary31 = 31 };
enum { kFormI = 0, kFormB = 1, kFormBclr = 2, kFormOther = 3 };  // bits 11-12 of a stored branch
enum { kAbsolute = 2 };                                          // the region code of AA=1

// Bit 4 of a stored bclr and bit 9 of a stored branch without a static hint are set by the
// processor; decoders ignore both.
#define STORED_REGISTER_BRANCH (UINT32_C(1) << 27)
#define STORED_NO_HINT (UINT32_C(1) << 22)
#define STORED_BCTAR (UINT32_C(1) << 11)

// Region of the target: 0 is the branch's own aligned block of 2^shift bytes, 1 the next block, 3
// the preceding block. Effective addresses wrap, and so do their regions.
static uint32_t region(uint64_t target, uint64_t ea, unsigned shift) {
  const uint64_t distance = (target >> shift) - (ea >> shift);
  return (uint32_t)(distance & 3);
}

static uint32_t stored_condition(uint32_t bo, uint32_t bi) {
  return (bo >> 1) << 23 | (bi >> 4) << 21 | (bo & 1) << 18 | (bi & 15) << 13;
}

// The decoder recognizes isel, which it keeps unchanged, by the stored word. A stored bl can look
// the same.
static bool looks_like_isel(uint32_t stored) {
  return stored >> 26 == kPrimary31 && (stored >> 1 & 0x1f) == 15;
}

static bool recode_i_form(uint32_t instruction, uint64_t ea, uint32_t* recoded) {
  const uint32_t lk = instruction & 1;
  const bool absolute = instruction & 2;
  const uint64_t displacement = (uint64_t)((int64_t)((uint64_t)instruction << 38) >> 38) & ~3ull;
  const uint64_t target = absolute ? displacement : ea + displacement;
  const uint32_t mode = absolute ? kAbsolute : region(target, ea, 26);
  const uint32_t li = (uint32_t)(target >> 2) & 0xffffff;
  const uint32_t stored = lk << 30 | mode << 28 | (li >> 17) << 21 | kFormI << 19 | (li & 0x1ffff);
  if (looks_like_isel(stored)) return false;
  *recoded = stored;
  return true;
}

static bool recode_b_form(uint32_t instruction, uint64_t ea, uint32_t* recoded) {
  const uint32_t lk = instruction & 1;
  const bool absolute = instruction & 2;
  const uint64_t displacement = (uint64_t)(int64_t)(int16_t)(instruction & 0xfffc);
  const uint64_t target = absolute ? displacement : ea + displacement;
  const uint32_t mode = absolute ? kAbsolute : region(target, ea, 16);
  const uint32_t bd = (uint32_t)(target >> 2) & 0x3fff;
  const uint32_t stored = lk << 30 | mode << 28 | (bd >> 13) << 27 | STORED_NO_HINT | kFormB << 19 |
                          stored_condition(instruction >> 21 & 0x1f, instruction >> 16 & 0x1f) |
                          (bd & 0x1fff);
  if (looks_like_isel(stored)) return false;
  *recoded = stored;
  return true;
}

// bclr, bcctr and bctar: primary 19 with the extended opcode in bits 21-30.
static bool recode_register_branch(uint32_t instruction, uint32_t* recoded) {
  enum { kBclr = 16, kBcctr = 528, kBctar = 560 };
  const uint32_t extended = instruction >> 1 & 0x3ff;
  const uint32_t bo = instruction >> 21 & 0x1f;
  const bool reserved = instruction & 0xe000;        // bits 16-18
  const bool lost_hint = (bo & 1) && (bo & 2) == 0;  // BO[4] is only kept beside BO[3]
  if (reserved || lost_hint) return false;
  uint32_t form;
  if (extended == kBclr) {
    form = kFormBclr << 19;
  } else if (extended == kBcctr) {
    form = kFormOther << 19;
  } else if (extended == kBctar) {
    form = kFormOther << 19 | STORED_BCTAR;
  } else {
    return false;
  }
  *recoded = (instruction & 1) << 30 | UINT32_C(2) << 28 | STORED_REGISTER_BRANCH | form |
             stored_condition(bo, instruction >> 16 & 0x1f) | (instruction >> 11 & 3) << 9 | 0x20;
  return true;
}

// sc, scv, rfid and related instructions, mtmsr[d]: stored unchanged, with the form bits in a field
// that is unused in the instruction.
static bool recode_serialising(uint32_t instruction, uint32_t* recoded) {
  const uint32_t primary = instruction >> 26;
  const bool return_from_interrupt = primary == kPrimary19 && (instruction >> 1 & 0x1f) == 18;
  const uint32_t extended = instruction >> 1 & 0x3ff;
  const bool move_to_msr = primary == kPrimary31 && (extended == 146 || extended == 178);
  if (primary != kPrimarySc && !return_from_interrupt && !move_to_msr) return false;
  if (instruction & 0x001e0000) return false;  // bits 11-14 would be lost
  *recoded = instruction | kFormOther << 19;
  return true;
}

bool power10_recode_branch(uint32_t instruction, uint64_t ea, uint32_t* recoded) {
  switch (instruction >> 26) {
    case kPrimaryB:
      return recode_i_form(instruction, ea, recoded);
    case kPrimaryBc:
      return recode_b_form(instruction, ea, recoded);
    case kPrimary19:
      return recode_register_branch(instruction, recoded) ||
             recode_serialising(instruction, recoded);
    default:
      return recode_serialising(instruction, recoded);
  }
}
