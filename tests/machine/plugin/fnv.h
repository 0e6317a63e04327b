// SPDX-License-Identifier: GPL-2.0-or-later
// FNV-1a, 64 bits: a checksum that the guest's test clients also compute. Start and prime are from
// its definition (Fowler, Noll, Vo; RFC 9923).
#pragma once
#include <stddef.h>
#include <stdint.h>

#define FNV_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t fnv(uint64_t sum, const uint8_t* bytes, size_t count) {
  for (size_t i = 0; i < count; i++) sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
  return sum;
}
