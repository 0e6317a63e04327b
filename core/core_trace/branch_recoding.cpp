// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/branch_recoding.h"

#include <array>

namespace htmtrace {
namespace {

// Instruction formats follow the Power ISA; bit 0 is the most significant of 32 bits.
constexpr uint32_t kB = 0x48000000;
constexpr uint32_t kBc = 0x40000000;
constexpr uint32_t kBclr = 0x4c000020;
constexpr uint32_t kBcctr = 0x4c000420;
constexpr uint32_t kBctarBit = 0x40;  // added to kBcctr
constexpr uint32_t kAbsoluteBit = 2;

constexpr uint32_t kPrimarySc = 17;
constexpr uint32_t kPrimary19 = 19;
constexpr uint32_t kPrimary31 = 31;
constexpr uint32_t kIselXo = 15;
constexpr uint32_t kReturnXo = 18;  // rfid, hrfid, rfscv, rfebb, stop: the low five bits

// The region code of the target. A region has 2^k bytes; the target lies in the same region as the
// branch, the next, or the previous region, or at an absolute address.
enum Mode : uint8_t { kSame = 0, kNext = 1, kAbsolute = 2, kPrevious = 3 };

constexpr uint32_t bits(uint32_t word, unsigned first, unsigned last) {
  return word >> (31 - last) & ((uint32_t{1} << (last - first + 1)) - 1);
}

Mode mode_of(uint32_t stored) {
  return static_cast<Mode>(bits(stored, 2, 3));
}
uint32_t link_of(uint32_t stored) {
  return bits(stored, 1, 1);
}
bool is_isel(uint32_t stored) {
  return bits(stored, 0, 5) == kPrimary31 && bits(stored, 26, 30) == kIselXo;
}

// The displacement from `address` to the target. The target has the `shift` low bits `low` and lies
// in the region of `mode`. Addresses wrap, so all arithmetic is modulo 2^64.
uint32_t displacement(EffectiveAddr address, unsigned shift, Mode mode, uint64_t low) {
  uint64_t region = address.value >> shift;
  if (mode == kNext) region++;
  if (mode == kPrevious) region--;
  return static_cast<uint32_t>((region << shift | low) - address.value);
}

std::optional<uint32_t> i_form(uint32_t low, Mode mode, uint32_t link,
                               std::optional<EffectiveAddr> address) {
  if (mode == kAbsolute) return kB | kAbsoluteBit | low | link;
  if (!address) return std::nullopt;
  return kB | (displacement(*address, 26, mode, low) & 0x03fffffc) | link;
}

std::optional<uint32_t> b_form(uint32_t condition, uint32_t low, Mode mode, uint32_t link,
                               std::optional<EffectiveAddr> address) {
  if (mode == kAbsolute) return kBc | kAbsoluteBit | condition | low | link;
  if (!address) return std::nullopt;
  return kBc | condition | (displacement(*address, 16, mode, low) & 0xfffc) | link;
}

// The cache holds sc, scv, rfid and related instructions, and mtmsr[d] unchanged, except for the
// form bits in a field that these instructions leave empty. No other instruction of primary opcode
// 19 is known to have such a stored form.
std::optional<uint32_t> serializing(uint32_t stored) {
  if (bits(stored, 0, 5) == kPrimary19 && bits(stored, 26, 30) != kReturnXo) return std::nullopt;
  return stored & ~uint32_t{0x001e0000};
}

enum Form : uint8_t { kFormI = 0, kFormB = 1, kFormBclr = 2, kFormOther = 3 };

constexpr uint64_t kSerializingPrimaries =
    uint64_t{1} << kPrimarySc | uint64_t{1} << kPrimary19 | uint64_t{1} << kPrimary31;

// The differences between POWER10's forms of branches. The processor cannot predict the next form,
// so a table is cheaper than branches.
struct Power10Form {
  uint32_t opcode = 0;        // with the bits that are always set
  uint32_t displacement = 0;  // mask of the displacement bits
  uint32_t operands = 0;      // mask of all other operand bits
  uint32_t long_target = 0;   // all bits set: the word stores as much of the target as fits
  uint32_t others = 0;        // 1: the form also holds instructions other than branches
  uint32_t keeps_hint = 0;    // 1: always keep the last bit of BO, not only if bit 3 is set
  uint32_t relative = 0;      // mask of an address within its region; 0 for an absolute target
  uint32_t region = 0;        // distance from the branch's region to the target's region
};

constexpr auto kPower10Forms = [] {
  constexpr uint32_t kLink = 1, kBoBi = 0x03ff0000, kBh = 0x1800;
  std::array<Power10Form, 16> forms{};
  for (uint32_t i = 0; i < forms.size(); i++) {
    const Mode mode = static_cast<Mode>(i & 3);
    const Form form = static_cast<Form>(i >> 2);
    switch (form) {
      case kFormI:
        forms[i] = {.opcode = kB,
                    .displacement = 0x03fffffc,
                    .operands = kLink,
                    .long_target = ~uint32_t{0}};
        break;
      case kFormB:
        forms[i] = {
            .opcode = kBc, .displacement = 0xfffc, .operands = kBoBi | kLink, .keeps_hint = 1};
        break;
      case kFormBclr:
        forms[i] = {.opcode = kBclr, .operands = kBoBi | kBh | kLink};
        break;
      case kFormOther:
        forms[i] = {.opcode = kBcctr, .operands = kBoBi | kBh | kBctarBit | kLink, .others = 1};
        break;
    }
    if (forms[i].displacement == 0) continue;
    if (mode == kAbsolute) {
      forms[i].opcode |= kAbsoluteBit;
      continue;
    }
    const uint32_t size = (forms[i].displacement | 3) + 1;
    forms[i].relative = size - 1;
    forms[i].region = mode == kNext ? size : mode == kPrevious ? -size : 0;
  }
  return forms;
}();

}  // namespace

std::optional<uint32_t> restore_power8_branch(uint32_t stored,
                                              std::optional<EffectiveAddr> address) {
  if (is_isel(stored)) return stored;
  const Mode mode = static_cast<Mode>(bits(stored, 4, 5));
  const uint32_t link = link_of(stored);
  uint32_t form = bits(stored, 2, 3);
  if (form == 0 && bits(stored, 30, 30) == 0) form = 1;  // bit 30 marks b and bl
  if (form == 0) return i_form(stored & 0x03fffffc, mode, link, address);
  // Bits 7-16 hold the architected bits 6-15. Bit 6 holds the architected bit 16.
  const uint32_t operands = bits(stored, 7, 16) << 16;
  const uint32_t bit16 = bits(stored, 6, 6) << 15;
  if (form == 1) {
    return b_form(operands, bit16 | (stored & 0x7ffc), mode, link, address);
  }
  // BH and LK, without the reserved bits 16-18.
  const uint32_t tail = (stored & 0x1800) | link;
  if (form == 2) return kBclr | operands | tail;
  return kBcctr | operands | tail | ((stored & 0x2000) != 0 ? kBctarBit : 0);
}

std::optional<uint32_t> restore_power10_branch(uint32_t stored,
                                               std::optional<EffectiveAddr> address) {
  if (is_isel(stored)) [[unlikely]]
    return stored;
  const uint32_t primary = bits(stored, 0, 5);
  const Power10Form& of = kPower10Forms[bits(stored, 11, 12) << 2 | mode_of(stored)];
  if ((of.others & kSerializingPrimaries >> primary) != 0) [[unlikely]]
    return serializing(stored);
  if (!address && of.relative != 0) [[unlikely]]
    return std::nullopt;
  // The stored bits of the target, and the displacement to the target.
  const uint32_t low = bits(stored, 19, 31) << 2 |
                       ((bits(stored, 15, 18) << 15 | bits(stored, 4, 10) << 19) & of.long_target) |
                       (bits(stored, 4, 4) << 15 & ~of.long_target);
  const auto here = static_cast<uint32_t>(address.value_or(EffectiveAddr{}).value);
  const uint32_t displacement = low + of.region - (here & of.relative);
  // The operands: BO (its last bit is a hint), BI, BH, the bit that turns bcctr into bctar, and LK.
  const uint32_t hint = bits(stored, 13, 13) & (bits(stored, 8, 8) | of.keeps_hint);
  const uint32_t operands = bits(stored, 5, 8) << 22 | hint << 21 | bits(stored, 10, 10) << 20 |
                            bits(stored, 15, 18) << 16 | bits(stored, 21, 22) << 11 |
                            bits(stored, 20, 20) << 6 | link_of(stored);
  return of.opcode | (displacement & of.displacement) | (operands & of.operands);
}

}  // namespace htmtrace
