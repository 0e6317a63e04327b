// SPDX-License-Identifier: GPL-2.0-or-later
// Builds the words of a POWER8 core instruction trace, for tests. Bit numbers in the comments are
// IBM's: bit 0 is the most significant of 64. The layout is the one that the public decoder of
// open-power's qtrace-tools reads. power10_store writes words as the trace holds them; the stamps
// of power10.h are the same in both formats, but for MARK.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Which words follow an INFO word: its bits 57-60, and 61.
enum power8_word {
  kPower8Iea = 0x40,
  kPower8Ira = 0x20,
  kPower8Dea = 0x10,
  kPower8Dra = 0x08,
  kPower8Segment = 0x04,  // DEA and DRA are ESID and VSID
};

// Page sizes, as exponents of two.
enum { kPower8Page4K = 12, kPower8Page64K = 16, kPower8Page16M = 24 };

// `opcode` is the recoded form when `branch` is set; `follow` is a sum of power8_word.
uint64_t power8_info(uint32_t opcode, bool branch, bool microcoded, bool valid, unsigned follow);
uint64_t power8_iea(uint64_t ea, bool hypervisor, bool relocated);
uint64_t power8_ira(uint64_t ra, unsigned page_shift);
uint64_t power8_dra(uint64_t ra, unsigned page_shift);
uint64_t power8_mark(unsigned node, unsigned chip, unsigned unit, unsigned marker);

// Computes the form in which the processor stores a branch. Returns false for other instructions,
// and if the stored form would not restore this instruction. INFO then holds the instruction
// unchanged.
bool power8_recode_branch(uint32_t instruction, uint64_t ea, uint32_t* recoded);

#ifdef __cplusplus
}
#endif
