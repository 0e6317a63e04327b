// SPDX-License-Identifier: GPL-2.0-or-later
// POWER's timebase register, which timestamps the hypervisor's log.
#pragma once

#include <cstdint>

namespace htmtrace {

// Returns 0 on other machines.
inline uint64_t timebase_now() {
#if defined(__powerpc64__)
  return __builtin_ppc_get_timebase();
#else
  return 0;
#endif
}

}  // namespace htmtrace
