// SPDX-License-Identifier: GPL-2.0-or-later
// Big-endian integers at any alignment. The hypervisor and the trace hardware write big-endian
// integers, whatever the partition's byte order is.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace htmtrace {

inline uint64_t load_be64(const std::byte* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
  return value;
}

inline uint32_t load_be32(const std::byte* from) {
  uint32_t value;
  std::memcpy(&value, from, sizeof(value));
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap32(value);
  return value;
}

inline void store_be16(std::byte* to, uint16_t value) {
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap16(value);
  std::memcpy(to, &value, sizeof(value));
}

inline void store_be32(std::byte* to, uint32_t value) {
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap32(value);
  std::memcpy(to, &value, sizeof(value));
}

inline void store_be64(std::byte* to, uint64_t value) {
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof(value));
}

}  // namespace htmtrace
