// SPDX-License-Identifier: GPL-2.0-or-later
// The layout of packed columns, for those who write and read them: htmtrace-dtl(5), "Columns".
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace htmtrace::packed {

// So many bits can be read with eight bytes from any bit of a byte on, and one more.
inline constexpr unsigned kMostBits = 56;
inline constexpr size_t kPositionBytes = 2;
inline constexpr size_t kCountBytes = 2;
inline constexpr size_t kMostDistinct = 1024;
// Instead of a count. Addresses lie close together in several places far from each other: 64 KiB
// are such a place.
inline constexpr size_t kSplit = 65535;
// Likewise. Most are equal to the one before.
inline constexpr size_t kRuns = 65534;
inline constexpr unsigned kLowerBits = 16;
inline constexpr uint64_t kLowerMask = (uint64_t{1} << kLowerBits) - 1;
// How many of the lowest bits are zero in all numbers of a column: of addresses of instructions, of
// doublewords, of pages. Which of these is in the two bits above the number of bits.
inline constexpr std::array<unsigned, 4> kShifts{0, 2, 3, 12};
inline constexpr unsigned kShiftPlace = 6;
inline constexpr unsigned kBitsMask = (1U << kShiftPlace) - 1;

inline size_t bytes_of_bits(size_t count, unsigned bits) {
  return (count * bits + 7) / 8;
}

// Little-endian, so that a number that crosses bytes is a shift and a mask.
inline uint64_t load_le64(const std::byte* from) {
  uint64_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  return value;
}

inline void store_le64(std::byte* to, uint64_t value) {
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof(value));
}

}  // namespace htmtrace::packed
