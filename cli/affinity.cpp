// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/affinity.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <thread>

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

bool is_bound_to(pid_t thread, int cpu) {
  constexpr size_t kMostCpus = 1 << 16;
  cpu_set_t* set = CPU_ALLOC(kMostCpus);
  if (set == nullptr) return false;
  const size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  CPU_ZERO_S(bytes, set);
  const bool bound = ::sched_getaffinity(thread, bytes, set) == 0 && CPU_COUNT_S(bytes, set) == 1 &&
                     CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set);
  CPU_FREE(set);
  return bound;
}

unsigned allowed_cpus() {
  cpu_set_t allowed;
  // The kernel refuses to fill a set that is smaller than its number of CPUs.
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
    return std::max(1U, std::thread::hardware_concurrency());
  }
  return static_cast<unsigned>(CPU_COUNT(&allowed));
}

}  // namespace htmtrace
