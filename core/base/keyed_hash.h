// SPDX-License-Identifier: GPL-2.0-or-later
// Hashing of keys that a trace chooses. With a hash that is known, a trace can have keys that all
// need the same slot of a table, and each search then reads the whole table. The seed is secret, so
// nobody can make such a trace in advance.
#pragma once

#include <cstdint>

namespace htmtrace {

// A random number that stays the same in this process, and in processes that it forks.
uint64_t process_seed();

// Each bit of `key` and `seed` changes each bit of the result with a probability of about one half.
// The steps and factors are those of fmix64, the finalizer of MurmurHash3 (Austin Appleby, public
// domain; MurmurHash3.cpp in the project SMHasher).
constexpr uint64_t keyed_hash(uint64_t key, uint64_t seed) {
  uint64_t hash = key ^ seed;
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
  hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
  return hash ^ hash >> 33;
}

}  // namespace htmtrace
