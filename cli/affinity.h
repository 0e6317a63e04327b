// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <sys/types.h>

#include <vector>

namespace htmtrace {

// Restricts a thread to these CPUs; 0 is the calling thread. Returns 0 or an errno.
int bind_to_cpus(pid_t thread, const std::vector<int>& cpus);

// Returns true if the thread may run on this CPU, and on no other CPU.
bool is_bound_to(pid_t thread, int cpu);

// Returns the number of CPUs on which the calling thread may run.
unsigned allowed_cpus();

}  // namespace htmtrace
