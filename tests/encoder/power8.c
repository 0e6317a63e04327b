// SPDX-License-Identifier: GPL-2.0-or-later
#include "power8.h"

#define HEADER_TAG (UINT64_C(0xabcde) << 8)
#define STAMP_TAG (UINT64_C(0xaceff) << 44)

// `width` bits of `value` whose last one is IBM bit `last`.
static uint64_t field(uint64_t value, unsigned width, unsigned last) {
  return (value & ((UINT64_C(1) << width) - 1)) << (63 - last);
}

uint64_t power8_info(uint32_t opcode, bool branch, bool microcoded, bool valid, unsigned follow) {
  return (uint64_t)opcode << 32 | field(branch, 1, 32) | field(microcoded, 1, 33) | HEADER_TAG |
         field(valid, 1, 56) | follow;
}

uint64_t power8_iea(uint64_t ea, bool hypervisor, bool relocated) {
  return (ea & ~UINT64_C(3)) | field(hypervisor, 1, 62) | field(relocated, 1, 63);
}

uint64_t power8_ira(uint64_t ra, unsigned page_shift) {
  const unsigned code = page_shift == kPower8Page4K ? 1 : page_shift == kPower8Page64K ? 2 : 3;
  return field(ra >> page_shift << (page_shift - 12), 38, 37) | field(code, 2, 39);
}

uint64_t power8_dra(uint64_t ra, unsigned page_shift) {
  const unsigned code = page_shift == kPower8Page4K ? 0 : page_shift == kPower8Page64K ? 1 : 3;
  return field(code, 2, 1) | field(ra >> page_shift << (page_shift - 12), 38, 39);
}

uint64_t power8_mark(unsigned node, unsigned chip, unsigned unit, unsigned marker) {
  return STAMP_TAG | field(3, 4, 23) | field(node, 3, 26) | field(chip, 3, 29) |
         field(unit, 8, 37) | field(marker, 12, 49);
}

enum { kFormI = 0, kFormB = 1, kFormBclr = 2, kFormBcctr = 3 };  // bits 2-3 of a stored branch

static uint32_t region(uint64_t target, uint64_t ea, unsigned shift) {
  return (uint32_t)((target >> shift) - (ea >> shift)) & 3;
}

static bool looks_like_isel(uint32_t stored) {
  return stored >> 26 == 31 && (stored >> 1 & 0x1f) == 15;
}

static bool finish(uint32_t stored, uint32_t* recoded) {
  if (looks_like_isel(stored)) return false;
  *recoded = stored;
  return true;
}

bool power8_recode_branch(uint32_t instruction, uint64_t ea, uint32_t* recoded) {
  const uint32_t link = (instruction & 1) << 30;
  const bool absolute = instruction & 2;
  const uint32_t operands = (instruction >> 16 & 0x3ff) << 15;  // BO and BI, a place further right
  switch (instruction >> 26) {
    case 18: {
      const uint64_t offset = (uint64_t)((int64_t)((uint64_t)instruction << 38) >> 38) & ~3ull;
      const uint64_t target = absolute ? offset : ea + offset;
      const uint32_t mode = absolute ? 2 : region(target, ea, 26);
      return finish(link | mode << 26 | (uint32_t)(target & 0x03fffffc) | 2, recoded);
    }
    case 16: {
      const uint64_t offset = (uint64_t)(int64_t)(int16_t)(instruction & 0xfffc);
      const uint64_t target = absolute ? offset : ea + offset;
      const uint32_t mode = absolute ? 2 : region(target, ea, 16);
      return finish(link | kFormB << 28 | mode << 26 | (uint32_t)(target >> 15 & 1) << 25 |
                        operands | (uint32_t)(target & 0x7ffc),
                    recoded);
    }
    case 19: {
      const uint32_t extended = instruction >> 1 & 0x3ff;
      if (instruction & 0xe000) return false;
      const uint32_t stored = link | operands | (instruction & 0x1800);
      if (extended == 16) return finish(stored | (uint32_t)kFormBclr << 28, recoded);
      if (extended == 528) return finish(stored | (uint32_t)kFormBcctr << 28, recoded);
      if (extended == 560) return finish(stored | (uint32_t)kFormBcctr << 28 | 0x2000, recoded);
      return false;
    }
    default:
      return false;
  }
}
