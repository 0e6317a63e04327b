// SPDX-License-Identifier: GPL-2.0-or-later
// Appends text and numbers to a buffer that has room for them (TextOutput::room()). Each function
// returns the end of its text. Some functions are always inlined: in lines with many numbers, a
// call takes as long as the work of the function.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace htmtrace {

inline char* put_text(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Copies a text of kBytes to 2 * kBytes characters: its first and its last kBytes characters, which
// may overlap.
template <size_t kBytes>
[[gnu::always_inline]] inline void put_ends(char* to, std::string_view text) {
  const size_t last = text.size() - kBytes;
  std::memcpy(to, text.data(), kBytes);
  std::memcpy(to + last, text.data() + last, kBytes);
}

// Like put_text(), but faster for 4 to 32 characters: copies of constant size need no call.
[[gnu::always_inline]] inline char* put_short_text(char* to, std::string_view text) {
  if (text.size() < 4 || text.size() > 32) return put_text(to, text);
  if (text.size() < 8) {
    put_ends<4>(to, text);
  } else if (text.size() < 16) {
    put_ends<8>(to, text);
  } else {
    put_ends<16>(to, text);
  }
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

struct EightDigitsOfBoth {
  uint64_t first, second;
};

// Converts two numbers below 100 million as eight_digits() does. With SSE2, this needs half the
// instructions.
[[gnu::always_inline]] inline EightDigitsOfBoth eight_digits_of_both(uint32_t first,
                                                                     uint32_t second) {
#ifdef __SSE2__
  // 0xd1b71759 is 2^45 / 10000, rounded up, which is exact for 32-bit numbers.
  const __m128i values = _mm_set_epi64x(second, first);
  __m128i upper = _mm_srli_epi64(_mm_mul_epu32(values, _mm_set1_epi64x(0xd1b71759)), 45);
  __m128i rest = _mm_sub_epi64(values, _mm_mul_epu32(upper, _mm_set1_epi64x(10000)));
  __m128i parts = _mm_or_si128(upper, _mm_slli_epi64(rest, 32));
  upper = _mm_srli_epi16(_mm_mulhi_epu16(parts, _mm_set1_epi16(5243)), 3);  // each / 100
  rest = _mm_sub_epi16(parts, _mm_mullo_epi16(upper, _mm_set1_epi16(100)));
  parts = _mm_or_si128(upper, _mm_slli_epi32(rest, 16));
  upper = _mm_srli_epi16(_mm_mullo_epi16(parts, _mm_set1_epi16(103)), 10);  // each / 10
  rest = _mm_sub_epi16(parts, _mm_mullo_epi16(upper, _mm_set1_epi16(10)));
  parts = _mm_or_si128(upper, _mm_slli_epi16(rest, 8));
  return {.first = static_cast<uint64_t>(_mm_cvtsi128_si64(parts)),
          .second = static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(parts, parts)))};
#else
  return {.first = eight_digits(first), .second = eight_digits(second)};
#endif
}

// Writes eight characters. The caller overwrites all characters after the first 8 - `skip`.
inline char* put_digits(char* to, uint64_t digits, unsigned skip) {
  digits = (digits | 0x3030303030303030) >> 8 * skip;
  if constexpr (std::endian::native == std::endian::big) digits = __builtin_bswap64(digits);
  std::memcpy(to, &digits, sizeof(digits));
  return to + sizeof(digits) - skip;
}

// Writes eight digits without leading zeros. Requires room for 8 characters.
[[gnu::always_inline]] inline char* put_short_digits(char* to, uint64_t digits) {
  // The last digit is always printed.
  constexpr uint64_t kLast = uint64_t{1} << 56;
  return put_digits(to, digits, static_cast<unsigned>(std::countr_zero(digits | kLast)) / 8);
}

// Requires a value below 100 million and room for 8 characters.
[[gnu::always_inline]] inline char* put_short_decimal(char* to, uint32_t value) {
  return put_short_digits(to, eight_digits(value));
}

// Requires room for 24 characters.
inline char* put_decimal(char* to, uint64_t value) {
  constexpr uint64_t kEightDigits = 100'000'000;
  if (value < kEightDigits) return put_short_decimal(to, static_cast<uint32_t>(value));
  to = put_decimal(to, value / kEightDigits);
  return put_digits(to, eight_digits(static_cast<uint32_t>(value % kEightDigits)), 0);
}

}  // namespace htmtrace
