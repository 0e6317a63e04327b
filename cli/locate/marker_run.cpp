// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/marker_run.h"

#include <fmt/core.h>

#include <cerrno>

#include "cli/affinity.h"
#include "cli/locate/location_stamp.h"
#include "core/base/error.h"
#include "pmu/migration_event.h"

namespace htmtrace {

// Linux moves a bound thread when its CPU goes offline, and other processes may bind it anew. The
// order of the steps closes each gap: a thread that is bound to its CPU after the count has begun,
// and is never moved, ran on this CPU all the time.
MarkerRun::MarkerRun(int cpu, const Marker& marker)
    : cpu_(cpu),
      stamp_(location_stamp(cpu, "/")),
      loop_(cpu, marker),
      moves_(EventFd::open_for_task(migration_event_attr().bytes(), /*cpu=*/-1, loop_.thread())) {
  if (!moves_) {
    throw Error("cannot count the moves of the marker between CPUs", errno)
        .hint("grant CAP_PERFMON or run as root");
  }
  bound_ = is_bound_to(loop_.thread(), cpu);
}

std::optional<std::string> MarkerRun::undisturbed_stamp() const {
  const auto moves = moves_.read();
  if (!bound_ || !moves || moves->value != 0) return std::nullopt;
  if (location_stamp(cpu_, "/") != stamp_) return std::nullopt;
  return stamp_;
}

}  // namespace htmtrace
