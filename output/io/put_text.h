// SPDX-License-Identifier: GPL-2.0-or-later
// Appends text and numbers to a buffer that has room for them (TextOutput::room()). Each function
// returns the end of its text. Some functions are always inlined: in lines with many numbers, a
// call takes as long as the work of the function.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace htmtrace {

inline char* put_text(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Converts eight digits at once, each in a byte, with the first digit in the lowest byte. The
// multiplications divide halves, quarters and eighths of the number without interference between
// them.
[[gnu::always_inline]] inline uint64_t eight_digits(uint32_t value) {
  uint64_t parts = value / 10000 | uint64_t{value % 10000} << 32;
  uint64_t upper = parts * 5243 >> 19 & 0x7f0000007f;  // each / 100
  parts = upper | (parts - upper * 100) << 16;
  upper = parts * 103 >> 10 & 0x000f000f000f000f;  // each / 10
  return upper | (parts - upper * 10) << 8;
}

// Writes eight characters. The caller overwrites all characters after the first 8 - `skip`.
inline char* put_digits(char* to, uint64_t digits, unsigned skip) {
  digits = (digits | 0x3030303030303030) >> 8 * skip;
  if constexpr (std::endian::native == std::endian::big) digits = __builtin_bswap64(digits);
  std::memcpy(to, &digits, sizeof(digits));
  return to + sizeof(digits) - skip;
}

// Requires a value below 100 million and room for 8 characters.
[[gnu::always_inline]] inline char* put_short_decimal(char* to, uint32_t value) {
  const uint64_t digits = eight_digits(value);
  // The last digit is always printed.
  constexpr uint64_t kLast = uint64_t{1} << 56;
  return put_digits(to, digits, static_cast<unsigned>(std::countr_zero(digits | kLast)) / 8);
}

// Requires room for 24 characters.
inline char* put_decimal(char* to, uint64_t value) {
  constexpr uint64_t kEightDigits = 100'000'000;
  if (value < kEightDigits) return put_short_decimal(to, static_cast<uint32_t>(value));
  to = put_decimal(to, value / kEightDigits);
  return put_digits(to, eight_digits(static_cast<uint32_t>(value % kEightDigits)), 0);
}

}  // namespace htmtrace
