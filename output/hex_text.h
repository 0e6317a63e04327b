// SPDX-License-Identifier: GPL-2.0-or-later
// Hexadecimal of fixed width, fast: all digits of a number at once, in a 64-bit register.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace htmtrace {

// Writes eight digits; returns the place behind them.
inline char* put_hex32(char* to, uint32_t value) {
  constexpr uint64_t kEach = 0x0101010101010101;
  // One digit a byte, the first in the lowest byte.
  uint64_t digits = value;
  digits = (digits & 0x000000000000ffff) << 32 | (digits & 0x00000000ffff0000) >> 16;
  digits = (digits & 0x000000ff000000ff) << 16 | (digits & 0x0000ff000000ff00) >> 8;
  digits = (digits & 0x000f000f000f000f) << 8 | (digits & 0x00f000f000f000f0) >> 4;
  // 10..15 carry into bit 4 when 6 is added; those become 'a'..'f'.
  const uint64_t letters = (digits + 6 * kEach) >> 4 & kEach;
  digits += '0' * kEach + letters * ('a' - '0' - 10);
  if constexpr (std::endian::native == std::endian::big) digits = __builtin_bswap64(digits);
  std::memcpy(to, &digits, sizeof(digits));
  return to + sizeof(digits);
}

// Writes sixteen digits.
inline char* put_hex64(char* to, uint64_t value) {
  return put_hex32(put_hex32(to, static_cast<uint32_t>(value >> 32)), static_cast<uint32_t>(value));
}

}  // namespace htmtrace
