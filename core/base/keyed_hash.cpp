// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/keyed_hash.h"

#include <sys/auxv.h>

#include <cstring>

namespace htmtrace {

// The kernel gives each program 16 random bytes when it executes the program (getauxval(3),
// AT_RANDOM). They need no system call, which the sandbox might refuse, and cannot fail. The C
// library derives its stack guard from the same bytes, so the seed is a hash of them, and no
// output may depend on it.
uint64_t process_seed() {
  static const uint64_t seed = [] {
    uint64_t words[2] = {};
    const unsigned long address = ::getauxval(AT_RANDOM);
    if (address != 0) std::memcpy(words, reinterpret_cast<const void*>(address), sizeof(words));
    return keyed_hash(words[0], keyed_hash(words[1], 0));
  }();
  return seed;
}

}  // namespace htmtrace
