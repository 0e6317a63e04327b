// SPDX-License-Identifier: GPL-2.0-or-later
// Multiplicative hashing (Knuth, The Art of Computer Programming, volume 3, 6.4).
#pragma once

#include <cstdint>

namespace htmtrace {

// Spreads keys that are near each other. The factor is 2^64 divided by the golden ratio. The upper
// bits are mixed better than the lower ones.
constexpr uint64_t spread(uint64_t key) {
  return key * 0x9e3779b97f4a7c15;
}

}  // namespace htmtrace
