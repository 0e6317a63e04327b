// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace htmtrace {

// Returns nothing if the system cannot start another thread (RLIMIT_NPROC, the cgroup's pids.max).
// The caller then does the work with fewer threads.
template <class Thread = std::thread, class Work>
std::optional<Thread> start_thread(Work work) {
  try {
    return Thread(std::move(work));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace htmtrace
