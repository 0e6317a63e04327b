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

// An odd number that is secret and random in each process, and the same in processes that it forks.
// Do not use it before main().
extern const uint64_t kSecretFactor;

// The place of a key in a table with `places` places, a power of two. A trace can choose keys that
// have the same place for a known factor, and each search then reads the whole table. With the
// secret factor, any two products share their upper bits with a probability of at most 2 / places
// (Dietzfelbinger, Hagerup, Katajainen, Penttonen: A Reliable Randomized Algorithm for the
// Closest-Pair Problem, 1997). The second product separates the keys of a regular series, for which
// some factors are bad. No output may depend on the places.
inline size_t secret_place(uint64_t key, size_t places) {
  const uint64_t product = key * kSecretFactor;
  // Two shifts, because a shift by 64 is undefined for a table with a single place.
  return static_cast<size_t>(spread(product ^ product >> 32) >> 1 >>
                             (63 - std::countr_zero(places)));
}

}  // namespace htmtrace
