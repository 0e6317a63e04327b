// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes follow the instruction descriptions of the Power ISA 3.1B, Books I to III.
#include "core/core_trace/access_shape.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "core/core_trace/instruction_class.h"

namespace htmtrace {
namespace {

using Bytes = uint16_t;

constexpr Bytes kCacheLine = 128;        // dcbz, copy and paste
constexpr Bytes kMostStringBytes = 127;  // lswx and stswx: XER has seven bits for the length
constexpr unsigned kGeneralRegisters = 32;
constexpr unsigned kWord = 4;

template <size_t N>
constexpr void put_sizes(std::array<Bytes, N>& table, Bytes size,
                         std::initializer_list<unsigned> opcodes) {
  for (const unsigned opcode : opcodes) table.at(opcode) = size;
}

// By primary opcode; 0: not a load or store, or the size depends on more bits.
constexpr auto kByPrimary = [] {
  std::array<Bytes, 64> table{};
  put_sizes(table, 1, {34, 35, 38, 39});
  put_sizes(table, 2, {40, 41, 42, 43, 44, 45});
  put_sizes(table, 4, {32, 33, 36, 37, 48, 49, 52, 53});
  put_sizes(table, 8, {50, 51, 54, 55});
  put_sizes(table, 16, {56});
  put_sizes(table, 32, {6});
  return table;
}();

// Suffixes of 8-byte load and store prefixes, by primary opcode.
constexpr auto kByPrefixedPrimary = [] {
  std::array<Bytes, 64> table{};
  put_sizes(table, 4, {41, 43, 47});
  put_sizes(table, 8, {42, 46, 57, 61});
  put_sizes(table, 16, {50, 51, 54, 55, 56, 60});
  put_sizes(table, 32, {58, 62});
  return table;
}();

// Primary opcode 31 by extended opcode. Atomic memory operations (582, 614, 710, 742) may also
// access the next element, and their sizes include it. lwat and ldat (582, 614) may read the
// preceding element instead, which no size includes.
constexpr auto kByExtended = [] {
  std::array<Bytes, 1024> table{};
  put_sizes(table, 1, {7, 13, 52, 87, 119, 135, 141, 215, 247, 694, 781, 853, 909, 981});
  put_sizes(
      table, 2,
      {39, 45, 116, 167, 173, 279, 311, 343, 375, 407, 439, 726, 790, 813, 821, 918, 941, 949});
  put_sizes(table, 4, {12,  20,  23,  55,  71,  76,  77,  140, 150, 151, 183, 199, 205, 341, 364,
                       373, 524, 534, 535, 567, 652, 662, 663, 695, 789, 855, 887, 917, 983});
  put_sizes(table, 8, {21,  53,  84,  109, 149, 181, 214, 237, 332, 532, 582, 588, 599,
                       631, 658, 660, 690, 710, 716, 722, 727, 754, 759, 885, 1013});
  put_sizes(table, 16, {103, 182, 231, 268, 269, 276, 300, 301, 359, 396, 397, 428, 429,
                        487, 614, 742, 780, 791, 812, 844, 876, 908, 919, 940, 972, 1004});
  put_sizes(table, 32, {333, 461});
  put_sizes(table, kMostStringBytes, {533, 661});
  put_sizes(table, kCacheLine, {774, 902, 1014});
  return table;
}();

constexpr unsigned primary_of(uint32_t word) {
  return word >> 26;
}
constexpr unsigned extended_of(uint32_t word) {
  return word >> 1 & 0x3ff;
}

// lswi and stswi: NB, 0 stands for 32.
Bytes string_bytes(uint32_t word) {
  const unsigned count = word >> 11 & 31;
  return static_cast<Bytes>(count == 0 ? 32 : count);
}

Bytes bytes_of_word(uint32_t word) {
  switch (primary_of(word)) {
    case 31: {
      const unsigned extended = extended_of(word);
      return extended == 597 || extended == 725 ? string_bytes(word) : kByExtended[extended];
    }
    case 46:
    case 47:  // lmw, stmw: the registers from RT to 31
      return static_cast<Bytes>((kGeneralRegisters - (word >> 21 & 31)) * kWord);
    case 57:  // lfdp, lxsd, lxssp
      return std::array<Bytes, 4>{16, 0, 8, 4}[word & 3];
    case 58:  // ld, ldu, lwa
      return std::array<Bytes, 4>{8, 8, 4, 0}[word & 3];
    case 61:  // stfdp, lxv or stxv, stxsd, stxssp
      return std::array<Bytes, 4>{16, 16, 8, 4}[word & 3];
    case 62:  // std, stdu, stq
      return std::array<Bytes, 4>{8, 8, 16, 0}[word & 3];
    default:
      return kByPrimary[primary_of(word)];
  }
}

bool is_of_31(uint32_t word, unsigned extended) {
  return primary_of(word) == 31 && extended_of(word) == extended;
}

void set_direction(InstructionClass found, uint32_t word, AccessShape& shape) {
  constexpr unsigned kFirstStoreConditional = 150, kDcbz = 1014, kCopy = 774, kPaste = 902;
  switch (found) {
    case InstructionClass::kLoad:
      shape.reads = true;
      return;
    case InstructionClass::kStore:
      shape.writes = true;
      return;
    case InstructionClass::kAtomic: {
      const unsigned extended = extended_of(word);
      const bool load =
          extended == 20 || extended == 52 || extended == 84 || extended == 116 || extended == 276;
      const bool conditional = extended == kFirstStoreConditional || extended == 182 ||
                               extended == 214 || extended == 694 || extended == 726;
      shape.reads = !conditional;
      shape.writes = !load;
      return;
    }
    default:  // the other cache and system instructions touch, flush or invalidate data
      shape.reads = is_of_31(word, kCopy);
      shape.writes = is_of_31(word, kDcbz) || is_of_31(word, kPaste);
      shape.whole_line = shape.reads || shape.writes;
  }
}

}  // namespace

AccessShape access_shape(const Instruction& instruction) {
  constexpr uint32_t kPrefixTypeOf8 = 0;
  AccessShape shape;
  const uint32_t word = instruction.opcode;
  const InstructionClass found = class_of(instruction);
  Bytes bytes = 0;
  if (!instruction.has_prefix) {
    bytes = bytes_of_word(word);
    set_direction(found, word, shape);
  } else {
    const bool of_8 = (instruction.prefix >> 24 & 3) == kPrefixTypeOf8;
    bytes = of_8 ? kByPrefixedPrimary[primary_of(word)] : kByPrimary[primary_of(word)];
    shape.reads = found == InstructionClass::kLoad;
    shape.writes = found == InstructionClass::kStore;
  }
  if (bytes == 0 || (!shape.reads && !shape.writes)) return {};
  shape.bytes = bytes;
  return shape;
}

bool touches(const Instruction& instruction, unsigned index, AccessShape shape, uint64_t first,
             uint64_t bytes, uint64_t& touched) {
  constexpr uint64_t kLine = kCacheLine;
  uint64_t begin = instruction.data[index].ea.value;
  uint64_t size = shape.bytes;
  if (shape.whole_line) {
    begin &= ~(kLine - 1);
  } else if (index == 1) {
    // The second address is the part of the access in the next page.
    const uint64_t apart = begin - instruction.data[0].ea.value;
    if (apart < size) size -= apart;
  }
  // Both ranges may contain the last byte of the address space.
  if (begin - first < bytes) {
    touched = begin;
    return true;
  }
  if (first - begin < size) {
    touched = first;
    return true;
  }
  return false;
}

}  // namespace htmtrace
