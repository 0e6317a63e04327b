// SPDX-License-Identifier: GPL-2.0-or-later
// Opcodes follow the Power ISA 3.1B, appendix "Opcode Maps".
#include "core/core_trace/instruction_class.h"

#include <algorithm>
#include <initializer_list>

namespace htmtrace {
namespace {

using Class = InstructionClass;

constexpr uint32_t primary(uint32_t word) {
  return word >> 26;
}
constexpr uint32_t extended(uint32_t word) {  // bits 21-30
  return word >> 1 & 0x3ff;
}

template <size_t N>
constexpr void put(std::array<Class, N>& table, Class value, std::initializer_list<int> places) {
  for (const int place : places) table.at(static_cast<size_t>(place)) = value;
}

// Primary opcode 31 by extended opcode. Unlisted opcodes are fixed point.
constexpr auto kByExtended31 = [] {
  std::array<Class, 1024> table{};
  for (Class& entry : table) entry = Class::kInteger;
  put(table, Class::kLoad, {7,   12,  13,  21,  23,  39,  45,  53,  55,  71,  76,  77,  87,  103,
                            109, 119, 268, 269, 279, 300, 301, 311, 332, 333, 341, 343, 359, 364,
                            373, 375, 524, 532, 533, 534, 535, 567, 588, 597, 599, 631, 690, 754,
                            780, 781, 789, 790, 791, 812, 813, 821, 844, 853, 855, 876, 885, 887});
  put(table, Class::kStore,
      {135, 140, 141, 149, 151, 167, 173, 181, 183, 199, 205, 215, 231, 237, 247,  396,
       397, 407, 428, 429, 439, 461, 487, 652, 658, 660, 661, 662, 663, 695, 716,  722,
       725, 727, 759, 908, 909, 917, 918, 919, 940, 941, 949, 972, 981, 983, 1004, 1013});
  put(table, Class::kAtomic, {20, 52, 84, 116, 276, 150, 182, 214, 694, 726, 582, 614, 710, 742});
  put(table, Class::kCache, {22, 54, 86, 246, 278, 470, 982, 1014});
  // wait, slbsync, tlbsync, sync, eieio, msgsync
  put(table, Class::kSync, {30, 338, 566, 598, 854, 886});
  // lvsl, lvsr, and moves between general and vector registers
  put(table, Class::kVector, {6, 38, 51, 115, 179, 211, 243, 307, 403, 435});
  put(table, Class::kSpr, {339, 371, 467});
  put(table, Class::kSystem,
      {4,   68,  83,  142, 146, 174, 178, 206, 238, 274, 306, 402, 434, 466, 498, 654,
       686, 718, 750, 774, 782, 814, 838, 846, 851, 878, 902, 910, 915, 942, 979, 1006});
  return table;
}();

constexpr Class class_of_19(uint32_t word) {
  switch (extended(word)) {
    case 16:   // bclr
    case 528:  // bcctr
    case 560:  // bctar
      return Class::kBranch;
    case 150:  // isync
      return Class::kSync;
    case 18:   // rfid
    case 82:   // rfscv
    case 146:  // rfebb
    case 274:  // hrfid
    case 306:  // urfid
    case 370:  // stop
      return Class::kSystem;
    default:  // condition register, addpcis
      return Class::kInteger;
  }
}

// fcfids and fcfidus lie among the matrix instructions. Bits 26-28 of matrix instructions are 2 or
// 3.
constexpr Class class_of_59(uint32_t word) {
  const uint32_t code = extended(word);
  if (code == 846 || code == 974) return Class::kFloat;
  const uint32_t middle = word >> 3 & 7;
  return middle == 2 || middle == 3 ? Class::kVector : Class::kFloat;
}

// The class by primary opcode; kUnknown if the class depends on more bits, or if no processor has
// the opcode.
constexpr auto kClassByPrimary = [] {
  std::array<Class, class_table::kPrimaries> table{};
  put(table, Class::kSystem, {2, 3, 17});  // tdi, twi, sc and scv
  put(table, Class::kBranch, {16, 18});
  put(table, Class::kInteger,
      {7, 8, 10, 11, 12, 13, 14, 15, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30});
  put(table, Class::kLoad, {32, 33, 34, 35, 40, 41, 42, 43, 46, 48, 49, 50, 51, 56, 57, 58});
  put(table, Class::kStore, {36, 37, 38, 39, 44, 45, 47, 52, 53, 54, 55, 62});
  put(table, Class::kVector, {60});
  put(table, Class::kFloat, {63});
  return table;
}();

// Accepts a word instruction whose class depends on more bits than the primary opcode. Bits 21-31
// include all of these bits.
constexpr Class class_of_extended(uint32_t opcode) {
  switch (primary(opcode)) {
    case 4: {  // VMX; maddhd, maddhdu and maddld are fixed point
      const uint32_t code = opcode & 0x3f;
      return code == 48 || code == 49 || code == 51 ? Class::kInteger : Class::kVector;
    }
    case 6:  // lxvp, stxvp
      return (opcode & 0xf) == 0 ? Class::kLoad
                                 : ((opcode & 0xf) == 1 ? Class::kStore : Class::kUnknown);
    case 19:
      return class_of_19(opcode);
    case 31:
      // isel has a register in the upper half of its extended opcode.
      return (extended(opcode) & 0x1f) == 15 ? Class::kInteger : kByExtended31[extended(opcode)];
    case 59:
      return class_of_59(opcode);
    case 61:  // lxv; stfdp, stxsd, stxssp, stxv
      return (opcode & 7) == 1 ? Class::kLoad : Class::kStore;
    default:
      return Class::kUnknown;
  }
}

// The primary opcodes of the instructions that class_of_extended() accepts.
constexpr std::array<unsigned, class_table::kExtendedPrimaries> kExtended = {4, 6, 19, 31, 59, 61};

// The index in kClasses of the first word with the primary opcode kExtended[extended].
constexpr unsigned first_of(unsigned extended) {
  return class_table::kPrimaries + extended * class_table::kExtendedWords;
}

}  // namespace

constinit const std::array<class_table::Row, class_table::kPrimaries> class_table::kRows = [] {
  std::array<Row, kPrimaries> rows{};
  for (unsigned i = 0; i < kPrimaries; i++) rows.at(i).first = static_cast<uint16_t>(i);
  for (unsigned i = 0; i < kExtendedPrimaries; i++) {
    rows.at(kExtended.at(i)) = {static_cast<uint16_t>(first_of(i)), kExtendedWords - 1};
  }
  return rows;
}();

constinit const std::array<Class, class_table::kClassCount> class_table::kClasses = [] {
  std::array<Class, kClassCount> table{};
  std::copy(kClassByPrimary.begin(), kClassByPrimary.end(), table.begin());
  for (unsigned i = 0; i < kExtendedPrimaries; i++) {
    for (unsigned word = 0; word < kExtendedWords; word++) {
      table.at(first_of(i) + word) = class_of_extended(kExtended.at(i) << 26 | word);
    }
  }
  return table;
}();

InstructionClass class_of_prefixed(uint32_t prefix, uint32_t suffix) {
  enum : uint32_t { kLoadStore8 = 0, kRegister8 = 1, kLoadStore = 2, kRegister = 3 };
  const uint32_t type = prefix >> 24 & 3;  // bits 6-7
  const uint32_t code = primary(suffix);
  switch (type) {
    case kLoadStore:  // the class without the prefix; the displacement is longer
      return kClassByPrimary[code];
    case kLoadStore8: {
      constexpr uint64_t kLoads = 1ULL << 41 | 1ULL << 42 | 1ULL << 43 | 1ULL << 50 | 1ULL << 51 |
                                  1ULL << 56 | 1ULL << 57 | 1ULL << 58;
      constexpr uint64_t kStores =
          1ULL << 46 | 1ULL << 47 | 1ULL << 54 | 1ULL << 55 | 1ULL << 60 | 1ULL << 61 | 1ULL << 62;
      if ((kLoads >> code & 1) != 0) return Class::kLoad;
      return (kStores >> code & 1) != 0 ? Class::kStore : Class::kUnknown;
    }
    case kRegister8:
      return Class::kVector;
    default:  // the suffix of pnop has no meaning; the others are matrix instructions
      return (prefix & 0x00f00000) == 0 ? Class::kInteger : Class::kVector;
  }
}

}  // namespace htmtrace
