// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the core of a CPU. No public document states how CPUs and cores correspond, but a trace
// shows it: htmtrace runs a random marker on the CPU, traces the candidate cores for a few
// milliseconds, and looks for the marker. The CPU ran on the core that has the marker in its trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/locate/marker_quest.h"
#include "core/base/error.h"
#include "core/base/target.h"

namespace htmtrace {

struct LocateWish {
  std::vector<int> cpus = {};
  std::vector<TraceTarget> candidates =
      {};              // core targets; empty: all cores of the hypervisor's list
  bool fresh = false;  // ignore remembered answers
};

struct CpuLocation {
  int cpu = -1;
  std::optional<TraceTarget> core;
  std::string stamp;  // the state of the machine in which the CPU is on `core`
  bool remembered = false;
  std::optional<Error> error;  // the reason, if `core` is empty
};

struct Locations {
  std::vector<CpuLocation> cpus;  // in the order of LocateWish::cpus
  std::vector<SkippedTarget> skipped;
};

// Remembers the answers. Uses remembered answers unless `fresh` is set or candidates are named.
// Throws Error if no candidate can be traced.
Locations locate_cpus(const LocateWish& wish);

// Chooses one of `cpus` whose core can be found: the least busy one if possible. The result has
// this CPU, preceded by the CPUs whose cores cannot be found. Throws Error if no core can be found.
Locations locate_any(const std::vector<int>& cpus);

// Returns true if no event since the core was found can have given the CPU another core.
bool still_holds(const CpuLocation& location);

// Prints the skipped cores.
void report_skipped(const Locations& found);

// Warns if the hypervisor may move CPUs to other cores at any time.
void warn_of_shared_processors();

}  // namespace htmtrace
