// SPDX-License-Identifier: GPL-2.0-or-later
// Text and numbers behind one another in a buffer that has room for them (TextOutput::room()). Each
// returns the place behind what it wrote. What is inlined always would otherwise be called in lines
// with many numbers, which takes as long as what it does.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/modes.h"

namespace htmtrace {

inline char* put_text(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Eight digits at once, each in a byte, the first in the lowest: halves, quarters and eighths of
// the number are divided with multiplications that do not disturb each other.
[[gnu::always_inline]] inline uint64_t eight_digits(uint32_t value) {
  uint64_t parts = value / 10000 | uint64_t{value % 10000} << 32;
  uint64_t upper = parts * 5243 >> 19 & 0x7f0000007f;  // each / 100
  parts = upper | (parts - upper * 100) << 16;
  upper = parts * 103 >> 10 & 0x000f000f000f000f;  // each / 10
  return upper | (parts - upper * 10) << 8;
}

// Writes eight characters; all but the first eight - `skip` are to be overwritten.
inline char* put_digits(char* to, uint64_t digits, unsigned skip) {
  digits = (digits | 0x3030303030303030) >> 8 * skip;
  if constexpr (std::endian::native == std::endian::big) digits = __builtin_bswap64(digits);
  std::memcpy(to, &digits, sizeof(digits));
  return to + sizeof(digits) - skip;
}

// Of less than 100 million. Needs room for 8 characters.
[[gnu::always_inline]] inline char* put_short_decimal(char* to, uint32_t value) {
  const uint64_t digits = eight_digits(value);
  // The last one is always there.
  constexpr uint64_t kLast = uint64_t{1} << 56;
  return put_digits(to, digits, static_cast<unsigned>(std::countr_zero(digits | kLast)) / 8);
}

// Needs room for 24 characters.
inline char* put_decimal(char* to, uint64_t value) {
  constexpr uint64_t kEightDigits = 100'000'000;
  if (value < kEightDigits) return put_short_decimal(to, static_cast<uint32_t>(value));
  to = put_decimal(to, value / kEightDigits);
  return put_digits(to, eight_digits(static_cast<uint32_t>(value % kEightDigits)), 0);
}

// "ir,dr,ee,le,sf": the bits that are known to be set; at most 30 characters, none when none is.
inline char* put_modes(char* to, Modes modes) {
  static constexpr struct {
    uint16_t bit;
    std::string_view name;
  } kNames[] = {{Modes::kHv, "hv,"}, {Modes::kPr, "pr,"}, {Modes::kIr, "ir,"},
                {Modes::kDr, "dr,"}, {Modes::kEe, "ee,"}, {Modes::kS, "s,"},
                {Modes::kTs, "ts,"}, {Modes::kLe, "le,"}, {Modes::kSf, "sf,"}};
  char* const begin = to;
  for (const auto& known : kNames) {
    if (modes.is(known.bit)) to = put_text(to, known.name);
  }
  return to == begin ? to : to - 1;
}

}  // namespace htmtrace
