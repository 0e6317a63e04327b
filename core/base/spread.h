// SPDX-License-Identifier: GPL-2.0-or-later
// Multiplicative hashing (Knuth, The Art of Computer Programming, volume 3, 6.4). The upper bits of
// a product are mixed best: use only these.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace htmtrace {

// Spreads keys that are near each other. The factor is 2^64 divided by the golden ratio. Use it
// only where a search reads a small number of places: everyone knows the factor, and can choose
// keys that all need the same place.
constexpr uint64_t spread(uint64_t key) {
  return key * 0x9e3779b97f4a7c15;
}

// Two random numbers that only this process and the processes that it forks know. Do not use them
// before main().
struct HashSecret {
  uint64_t mask = 0;
  uint64_t factor = 1;  // odd
};
extern const HashSecret kHashSecret;

// The place of a key in a table with `places` places, a power of two. A trace can choose keys that
// have the same place for a known factor, and each search then reads the whole table. Nobody knows
// the secret in advance. All bits of the 128-bit product depend on the secret, and the second
// product separates the keys of a regular series (Wang Yi's wyhash mixes keys in the same way). No
// output may depend on the places.
inline size_t secret_place(uint64_t key, size_t places, const HashSecret& secret = kHashSecret) {
  __extension__ typedef unsigned __int128 Wide;
  const Wide product = static_cast<Wide>(key ^ secret.mask) * secret.factor;
  const uint64_t mixed = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  // Two shifts, because a shift by 64 is undefined for a table with a single place.
  return static_cast<size_t>(spread(mixed) >> 1 >> (63 - std::countr_zero(places)));
}

}  // namespace htmtrace
