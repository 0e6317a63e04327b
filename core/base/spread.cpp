// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/spread.h"

#include <sys/auxv.h>

#include <cstring>

namespace htmtrace {
namespace {

// The kernel gives each program 16 random bytes when it executes the program (getauxval(3),
// AT_RANDOM). They need no system call, which the sandbox might refuse, and cannot fail. The C
// library derives its stack guard from the same bytes, so the factor is a hash of them: no output
// of a table may show the bytes.
uint64_t random_odd() {
  uint64_t words[2] = {};
  const unsigned long address = ::getauxval(AT_RANDOM);
  if (address != 0) std::memcpy(words, reinterpret_cast<const void*>(address), sizeof(words));
  const uint64_t mixed = spread(words[0] ^ words[0] >> 32) ^ words[1];
  return spread(mixed ^ mixed >> 29) | 1;
}

}  // namespace

const uint64_t kSecretFactor = random_odd();

}  // namespace htmtrace
