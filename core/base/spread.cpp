// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/spread.h"

#include <sys/auxv.h>

#include <bit>
#include <cstring>

namespace htmtrace {
namespace {

// The kernel gives each program 16 random bytes when it executes the program (getauxval(3),
// AT_RANDOM). Reading them needs no system call, which the sandbox might refuse. The C library
// derives its stack guard from the same bytes, so the secret is a hash of the bytes.
HashSecret make_secret() {
  uint64_t words[2] = {};
  const unsigned long address = ::getauxval(AT_RANDOM);
  if (address != 0) std::memcpy(words, std::bit_cast<const void*>(address), sizeof(words));
  const auto mix = [](uint64_t word) { return spread(word ^ word >> 32); };
  return {.mask = mix(mix(words[0]) ^ words[1]), .factor = mix(mix(words[1]) + words[0]) | 1};
}

}  // namespace

const HashSecret kHashSecret = make_secret();

}  // namespace htmtrace
