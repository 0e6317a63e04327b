// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses a CPU for a traced program.
#pragma once

#include <filesystem>
#include <vector>

namespace htmtrace {

// Sorts `cpus`: first the CPUs on whose cores the fewest tasks run or wait now, and CPU 0 last
// among equal CPUs, because many interrupts go there. Tasks of this process do not count. `root`
// replaces "/".
std::vector<int> least_busy_first(std::vector<int> cpus, const std::filesystem::path& root = "/");

}  // namespace htmtrace
