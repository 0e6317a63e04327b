// SPDX-License-Identifier: GPL-2.0-or-later
// The hypervisor delivers big-endian data, whatever the guest's byte order.
#pragma once
#include <stdint.h>

static inline void store_be16(uint8_t* bytes, uint16_t value) {
  for (int i = 0; i < 2; i++) bytes[i] = (uint8_t)(value >> (8 - 8 * i));
}

static inline void store_be32(uint8_t* bytes, uint32_t value) {
  for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

static inline void store_be64(uint8_t* bytes, uint64_t value) {
  for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (56 - 8 * i));
}
