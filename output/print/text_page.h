// SPDX-License-Identifier: GPL-2.0-or-later
// Caches the line text of instructions in one page of 4 KiB, in which effective, real and logical
// addresses have equal offsets. The lines differ in the opcode and in the last three digits of the
// addresses. So each line is a copy of the same text with these digits replaced.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "output/io/hex_text.h"
#include "output/print/field_list.h"

namespace htmtrace {

class TextPage {
 public:
  static constexpr uint64_t kOffset = 0xfff;

  // Enters the page of these addresses. Returns the offset at which put() writes the last digits of
  // la=. Without a logical address, la= shows dashes, and this offset repeats an earlier offset.
  size_t enter(uint64_t ea, uint64_t ra, uint64_t la, bool has_la) {
    ea_ = ea & ~kOffset;
    ra_ = has_la ? ra & ~kOffset : kNowhere;
    la_ = la & ~kOffset;
    put_hex64(text_.data() + kPlacesAt[0] - kPageDigits, ea_);
    put_hex64(text_.data() + kPlacesAt[1] - kPageDigits, ra);
    char* const logical = text_.data() + kPlacesAt[2] - kPageDigits;
    if (has_la) [[likely]] {
      put_hex64(logical, la_);
      return kPlacesAt[2];
    }
    std::memset(logical, '-', kPageDigits + kPlaceDigits);
    return kPlacesAt[1];
  }

  // Returns whether the page holds all three addresses. One comparison: a processor cannot predict
  // which of several comparisons fails.
  [[gnu::always_inline]] bool holds(uint64_t ea, uint64_t ra, uint64_t la) const {
    const uint64_t place = ea ^ ea_;
    return ((ra ^ ra_ ^ place) | (la ^ la_ ^ place) | (place & ~kOffset)) == 0;
  }

  // Writes the fields of the instruction at this address, and 4 characters beyond the returned end.
  [[gnu::always_inline]] char* put(char* to, uint64_t ea, uint32_t opcode,
                                   size_t last_at = kPlacesAt[2]) const {
    std::memcpy(to, text_.data(), text_.size());
    // The opcode's digits, then the digits of the page offset.
    const hex_text::Pair digits = reinterpret_cast<hex_text::Pair>(
        hex_text::digits_of(uint64_t{opcode} << 32 | (ea & kOffset) << 20));
    const uint64_t opcode_digits = digits[0];
    std::memcpy(to + kOpcodeAt, &opcode_digits, sizeof(opcode_digits));
    const uint32_t place_digits = blank_behind_three(digits[1]);
    std::memcpy(to + kPlacesAt[0], &place_digits, sizeof(place_digits));
    std::memcpy(to + kPlacesAt[1], &place_digits, sizeof(place_digits));
    std::memcpy(to + last_at, &place_digits, sizeof(place_digits));
    return to + kFields;
  }

 private:
  static constexpr size_t kPageDigits = 13;
  static constexpr size_t kPlaceDigits = 3;
  static constexpr size_t kAddressDigits = kPageDigits + kPlaceDigits;
  static constexpr size_t kOpcodeDigits = 8;

  // The end of each field. The first one has no blank.
  template <InstructionField kField>
  static constexpr size_t kLabelSize = kTextLabel<kField>.size();
  static constexpr size_t kEaEnd = kLabelSize<InstructionField::kEa> - 1 + kAddressDigits;
  static constexpr size_t kOpcodeAt = kEaEnd + kLabelSize<InstructionField::kOpcode>;
  static constexpr size_t kRaEnd =
      kOpcodeAt + kOpcodeDigits + kLabelSize<InstructionField::kRa> + kAddressDigits;
  static constexpr size_t kFields = kRaEnd + kLabelSize<InstructionField::kLa> + kAddressDigits;
  // The last three digits of the addresses.
  static constexpr size_t kPlacesAt[] = {kEaEnd - kPlaceDigits, kRaEnd - kPlaceDigits,
                                         kFields - kPlaceDigits};
  static constexpr uint64_t kNowhere = ~uint64_t{0};  // real addresses have fewer bits

  // Returns the first three characters of `text` as stored in memory, and a blank. Builds them in a
  // register: a load from memory just written in smaller pieces would wait for the store queue.
  static uint32_t blank_behind_three(uint64_t text) {
    if constexpr (std::endian::native == std::endian::little) {
      return (static_cast<uint32_t>(text) & 0x00ffffff) | uint32_t{' '} << 24;
    }
    return (static_cast<uint32_t>(text >> 32) & 0xffffff00) | uint32_t{' '};
  }

  // The line of an instruction whose addresses and opcode are zero.
  static constexpr std::array<char, kFields + 1> zeros() {
    std::array<char, kFields + 1> line{};
    line.fill('0');
    size_t at = 0;
    const auto put = [&](std::string_view label, size_t digits) {
      for (const char character : label) line.at(at++) = character;
      at += digits;
    };
    put(kTextLabel<InstructionField::kEa>.text().substr(1), kAddressDigits);
    put(kTextLabel<InstructionField::kOpcode>.text(), kOpcodeDigits);
    put(kTextLabel<InstructionField::kRa>.text(), kAddressDigits);
    put(kTextLabel<InstructionField::kLa>.text(), kAddressDigits);
    return line;
  }

  uint64_t ea_ = 0, ra_ = kNowhere, la_ = 0;
  std::array<char, kFields + 1> text_ = zeros();
};

}  // namespace htmtrace
