// SPDX-License-Identifier: GPL-2.0-or-later
// The layout of packed columns, which writers and readers share: htmtrace-dtl(5), "Columns".
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace htmtrace::packed {

// One less than the number of bits that an eight-byte load can read at any bit of its first byte.
// With the limit, the shifts of a writer that holds up to seven earlier bits stay below 64.
inline constexpr unsigned kMostBits = 56;
inline constexpr size_t kPositionBytes = 2;
inline constexpr size_t kCountBytes = 2;
inline constexpr size_t kMostDistinct = 1024;
// Marks the split form in place of a count. Addresses cluster in several distant regions, so the
// upper and lower 16 bits (regions of 64 KiB) are packed apart.
inline constexpr size_t kSplit = 65535;
// Marks the form of runs in place of a count. The form suits columns in which most numbers equal
// the preceding number.
inline constexpr size_t kRuns = 65534;
inline constexpr unsigned kLowerBits = 16;
inline constexpr uint64_t kLowerMask = (uint64_t{1} << kLowerBits) - 1;
// The possible shifts: the low bits that are zero in all numbers of a column, as in the addresses
// of instructions (2), doublewords (3) and pages (12). The two bits above the number of bits select
// the shift.
inline constexpr std::array<unsigned, 4> kShifts{0, 2, 3, 12};
inline constexpr unsigned kShiftPlace = 6;
inline constexpr unsigned kBitsMask = (1U << kShiftPlace) - 1;

inline size_t bytes_of_bits(size_t count, unsigned bits) {
  return (count * bits + 7) / 8;
}

// Little-endian, so that a shift and a mask extract a number that crosses a byte boundary.
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
