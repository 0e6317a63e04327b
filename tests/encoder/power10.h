// SPDX-License-Identifier: GPL-2.0-or-later
// Builds the words of a POWER10 core instruction trace, for tests and for the emulated machine.
//
// Bit numbers in the comments are IBM's: bit 0 is the most significant of 64. The layout is the one
// that the public decoder of open-power's qtrace-tools reads. Words are host integers here;
// power10_store writes them as the trace holds them, big-endian.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  kPower10IearaWords = 3,
  kPower10CompanionWords = 2,
  kPower10LineBytes = 128,
  kPower10MaxWalkWords = 38,  // terminator included
};

// The two low bits of an INFO word.
enum power10_operands {
  kPower10NoOperand = 0,
  kPower10OnePair = 1,      // one DEA + DRA
  kPower10TwoPairs = 2,     // two DEA + DRA
  kPower10SegmentPair = 3,  // one ESID + VSID
};

// Bits 20-27 of a TIME stamp.
enum power10_time {
  kPower10TimeElapsed = 0x80,
  kPower10TimeTraceFull = 0x82,
  kPower10TimeTriggerDropped = 0x84,
  kPower10TimeResponseDropped = 0x88,
  kPower10TimeMarkerDropped = 0x90,
  kPower10TimeRecordsDropped = 0xa0,
  kPower10TimeElapsedOverflow = 0xb0,
};

// Level codes of a walk word: what was read, or for a final word the size of the page.
enum power10_level {
  kPower10LevelPte = 0,
  kPower10LevelPmd = 2,
  kPower10LevelPud = 4,
  kPower10LevelPgd = 6,
  kPower10LevelTableEntry = 7,
  kPower10Page4K = 0,
  kPower10Page64K = 1,
  kPower10Page2M = 2,
  kPower10Page16M = 3,
  kPower10Page1G = 4,
};

// Bits 0-3 of a walk word, as its top hexadecimal digit.
enum power10_walk {
  kPower10WalkFinal = 8,
  kPower10WalkException = 4,
  kPower10WalkGuest = 2,
  kPower10WalkHost = 1,
};

void power10_store(uint8_t destination[8], uint64_t word);

// IEARA: execution enters the 128-byte line of `ea`, which lies in the 4 KiB page of `ra`.
void power10_ieara(uint64_t words[kPower10IearaWords], uint64_t ea, uint64_t ra);

// INFO, the first word of a completed instruction. `opcode` is the suffix of a prefixed instruction
// and the recoded form when `branch` is set. Only the offset of `ea` in its line is stored.
uint64_t power10_info(uint32_t opcode, uint64_t ea, bool branch, bool prefixed,
                      enum power10_operands operands);
// The word after INFO, from an architected MSR.
uint64_t power10_msr(uint64_t msr);
uint64_t power10_prefix(uint32_t prefix);
// DRA, the real page of a data address. The DEA before it is the plain 64-bit address.
uint64_t power10_dra(uint64_t ra);

// ESID and VSID of a segment operand.
uint64_t power10_esid(uint64_t esid);
uint64_t power10_vsid(unsigned segment_size, uint64_t vsid);

// XLATE: a header, walk words, and a terminator.
uint64_t power10_xlate(bool data_side, unsigned lpid, unsigned pid);
uint64_t power10_walk(unsigned kind, unsigned level, uint64_t ra);
uint64_t power10_walk_end(void);

// Stamps. `elapsed` keeps 28 bits.
uint64_t power10_record(uint8_t count);
uint64_t power10_complete(uint32_t elapsed);
uint64_t power10_pause(uint32_t elapsed);
uint64_t power10_sync(void);
uint64_t power10_mark(unsigned group, unsigned chip, unsigned unit, unsigned marker, bool dropped);
uint64_t power10_time(enum power10_time indicator, uint8_t dropped, uint32_t elapsed);
// A stamp as a 16-byte entry: a companion word with a 36-bit timer, then the stamp.
void power10_companion(uint64_t words[kPower10CompanionWords], uint64_t timer, unsigned code,
                       uint64_t stamp);

// Computes the form in which the processor stores a branch: absolute parts of the target instead of
// a displacement. Returns false for other instructions, and if the stored form would not restore
// exactly this instruction. INFO then holds the instruction unchanged, with the branch bit clear.
bool power10_recode_branch(uint32_t instruction, uint64_t ea, uint32_t* recoded);

#ifdef __cplusplus
}
#endif
