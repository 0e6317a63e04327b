// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/affinity.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>

namespace htmtrace {

int bind_to_cpus(pid_t thread, const std::vector<int>& cpus) {
  const auto count = static_cast<size_t>(*std::ranges::max_element(cpus)) + 1;
  cpu_set_t* set = CPU_ALLOC(count);
  if (set == nullptr) return ENOMEM;
  CPU_ZERO_S(CPU_ALLOC_SIZE(count), set);
  for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), CPU_ALLOC_SIZE(count), set);
  const int reason = ::sched_setaffinity(thread, CPU_ALLOC_SIZE(count), set) == 0 ? 0 : errno;
  CPU_FREE(set);
  return reason;
}

}  // namespace htmtrace
