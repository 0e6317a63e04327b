// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <sys/types.h>

#include <vector>

namespace htmtrace {

// Lets the thread run on these CPUs only; 0 is the calling one. Returns 0 or an errno.
int bind_to_cpus(pid_t thread, const std::vector<int>& cpus);

// On how many CPUs the calling thread may run.
unsigned allowed_cpus();

}  // namespace htmtrace
