// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/call_stacks/stack_pointer.h"

#include <bitset>
#include <initializer_list>

namespace htmtrace {
namespace {

using Opcodes = std::bitset<1024>;

// A set of extended opcodes of primary opcode 31.
Opcodes opcodes(std::initializer_list<unsigned> list) {
  Opcodes set;
  for (const unsigned extended : list) set.set(extended);
  return set;
}

constexpr int64_t signed_16(uint32_t word) {
  return static_cast<int16_t>(word & 0xffff);
}

// These instructions write the general register in bits 6 to 10 (RT). They are: add, subtract and
// negate; multiply, divide and modulo; loads; mfcr, mfmsr, mfspr and mftb; isel.
const Opcodes kWritesTarget =
    opcodes({8,    10,   40,  104, 136, 138, 200, 202, 232, 234, 266, 520, 522, 552, 616, 648,
             650,  712,  714, 744, 746, 778, 9,   11,  73,  75,  233, 235, 265, 267, 393, 395,
             425,  427,  457, 459, 489, 491, 745, 747, 777, 779, 905, 907, 937, 939, 969, 971,
             1001, 1003, 20,  21,  23,  52,  53,  55,  84,  87,  116, 119, 276, 279, 311, 341,
             343,  373,  375, 532, 534, 790, 789, 853, 885, 821, 19,  83,  339, 371});

// These instructions write the register that bits 11 to 15 name (RA): logical instructions, shifts,
// sign extension, counts, moves from vector registers.
const Opcodes kWritesFirst =
    opcodes({28, 60,  124, 284, 316, 412, 444, 476, 508, 252, 188, 156, 220, 24,
             27, 536, 539, 792, 794, 824, 826, 827, 890, 891, 922, 954, 986, 26,
             58, 122, 154, 186, 378, 506, 538, 570, 51,  115, 307, 59,  571});

// Indexed loads and stores that write their address to the base register.
const Opcodes kUpdatesIndexed =
    opcodes({53, 55, 119, 311, 373, 375, 181, 183, 247, 439, 567, 631, 695, 759});

StackPointerUse use_of_31(uint32_t word, bool target, bool base) {
  constexpr unsigned kSelect = 15, kOr = 444;
  const unsigned extended = word >> 1 & 0x3ff;
  StackPointerUse use;
  if (base && kUpdatesIndexed[extended]) {
    use.updates = true;
    return use;
  }
  const unsigned source = word >> 21 & 31, second = word >> 11 & 31;
  const bool copies_itself = extended == kOr && source == 1 && second == 1;  // a priority hint
  use.overwrites = (target && (kWritesTarget[extended] || (extended & 31) == kSelect)) ||
                   (base && kWritesFirst[extended] && !copies_itself);
  return use;
}

// Loads and stores with a displacement. Its `low_bits` belong to the opcode.
StackPointerUse based_use(uint32_t word, bool base, bool target_written, bool update,
                          int64_t low_bits) {
  StackPointerUse use;
  use.based = base;
  use.updates = base && update;
  use.displacement = signed_16(word) & ~low_bits;
  use.overwrites = target_written;
  return use;
}

}  // namespace

StackPointerUse stack_pointer_use(uint32_t word) {
  const unsigned primary = word >> 26;
  const bool target = (word >> 21 & 31) == 1;
  const bool base = (word >> 16 & 31) == 1;
  StackPointerUse use;
  switch (primary) {
    case 7:
    case 8:
    case 12:
    case 13:  // mulli subfic addic addic.
      use.overwrites = target;
      return use;
    case 14:
    case 15:  // addi addis
      use.adjusts = target && base;
      use.overwrites = target && !base;
      use.displacement = primary == 14 ? signed_16(word) : signed_16(word) * 65536;
      return use;
    case 20:
    case 21:
    case 23:
    case 25:
    case 26:
    case 27:
    case 28:
    case 29:
    case 30:
      use.overwrites = base;  // rotates, and logical instructions with an immediate
      return use;
    case 24:
      use.overwrites = base && !(target && (word & 0xffff) == 0);  // ori, except as a nop
      return use;
    case 31:
      return use_of_31(word, target, base);
    case 32:
    case 34:
    case 40:
    case 42:  // lwz lbz lhz lha
      return based_use(word, base, target, false, 0);
    case 33:
    case 35:
    case 41:
    case 43:  // the same with update
      return based_use(word, base, target, true, 0);
    case 46:  // lmw
      return based_use(word, base, target, false, 0);
    case 37:
    case 39:
    case 45:
    case 49:
    case 51:
    case 53:
    case 55:
      return based_use(word, base, false, true, 0);
    case 36:
    case 38:
    case 44:
    case 47:
    case 48:
    case 50:
    case 52:
    case 54:
      return based_use(word, base, false, false, 0);
    case 58:  // ld ldu lwa
      return based_use(word, base, target, (word & 3) == 1, 3);
    case 62:  // std stdu stq
      return based_use(word, base, false, (word & 3) == 1, 3);
    case 57:  // lfdp lxsd lxssp
      return based_use(word, base, false, false, 3);
    case 61:  // lxv stxv have four bits of opcode, stxsd stxssp stfdp two
      return based_use(word, base, false, false, (word & 3) == 1 ? 15 : 3);
    case 6:
    case 56:  // lxvp stxvp, lq
      return based_use(word, base, false, false, 15);
    default:
      return use;
  }
}

}  // namespace htmtrace
