// SPDX-License-Identifier: GPL-2.0-or-later
// CRC-32C (Castagnoli), RFC 3720 section 12.1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/big_endian.h"

namespace htmtrace {

// `before` is the checksum of the bytes that precede `bytes`.
inline uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0) {
  // kTables[N] holds the sum of a byte that N zero bytes follow. The loop looks up sixteen bytes at
  // once, which halves the chain of dependent steps compared with eight bytes.
  static constexpr auto kTables = [] {
    constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected
    std::array<std::array<uint32_t, 256>, 16> tables{};
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ ((value & 1) != 0 ? kPolynomial : 0);
      tables[0][i] = value;
    }
    for (size_t zeros = 1; zeros < tables.size(); zeros++) {
      for (size_t i = 0; i < 256; i++) {
        const uint32_t shorter = tables[zeros - 1][i];
        tables[zeros][i] = shorter >> 8 ^ tables[0][shorter & 0xff];
      }
    }
    return tables;
  }();
  uint32_t crc = ~before;
  for (; bytes.size() >= 16; bytes = bytes.subspan(16)) {
    const uint64_t first = __builtin_bswap64(load_be64(bytes.data())) ^ crc;
    const uint64_t second = __builtin_bswap64(load_be64(bytes.data() + 8));
    crc = 0;
    for (size_t i = 0; i < 8; i++) {
      crc ^= kTables[15 - i][first >> (8 * i) & 0xff] ^ kTables[7 - i][second >> (8 * i) & 0xff];
    }
  }
  for (const std::byte each : bytes) {
    crc = crc >> 8 ^ kTables[0][(crc ^ std::to_integer<uint32_t>(each)) & 0xff];
  }
  return ~crc;
}

}  // namespace htmtrace
