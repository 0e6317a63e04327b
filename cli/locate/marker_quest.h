// SPDX-License-Identifier: GPL-2.0-or-later
// Traces cores while markers run on CPUs, and finds the cores whose traces hold the markers.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/target.h"
#include "pmu/description.h"

namespace htmtrace {

// A core that could not be traced, for example because it is in use.
struct SkippedTarget {
  TraceTarget target;
  std::string reason;
};

// What the traces show about a CPU.
struct CpuSighting {
  int cpu = -1;
  // The cores whose traces of one batch hold the CPU's marker. One core: the CPU ran on it.
  // Several: the hypervisor moved the CPU during the trace. None: no trace holds the marker.
  std::vector<TraceTarget> cores = {};
  std::string stamp = {};           // of the CPU during that batch (location_stamp.h)
  bool disturbed = false;           // a batch does not count: the marker or the CPU may have moved
  std::optional<Error> error = {};  // why no marker can run on the CPU

  bool found() const { return cores.size() == 1; }
};

class MarkerQuest {
 public:
  // `pmu` belongs to htmtrace's own driver, because other drivers do not leave the macros of other
  // users alone, and outlives this object. `candidates` are core targets.
  MarkerQuest(const PmuDescription& pmu, const std::vector<int>& cpus,
              std::vector<TraceTarget> candidates);

  // Traces the candidates, as many at once as there are carrier CPUs, until the core of each CPU is
  // found or all candidates have been traced several times. Throws Error if no candidate can be
  // traced.
  void run();

  // In the order of the constructor's CPUs.
  const std::vector<CpuSighting>& sightings() const { return sightings_; }

  const std::vector<SkippedTarget>& skipped() const { return skipped_; }
  // The number of cores that were traced.
  size_t traced() const { return candidates_.size(); }

 private:
  // Each batch has markers of its own. An older trace, which a macro's memory may still hold, has
  // none of them.
  struct Batch;
  struct Attempt;

  bool all_done() const;
  std::vector<int> carriers() const;
  Batch open_batch(size_t& next);
  void trace(Batch& batch, const Attempt& attempt);
  static void start_markers(Batch& batch);
  void start_traces(Batch& batch);
  static void await_markers(const Batch& batch, std::chrono::milliseconds most);
  void read(Batch& batch, uint64_t most_bytes);
  static void note_cores(const Batch& batch);
  void skip(const TraceTarget& target, const Error& error);

  const PmuDescription& pmu_;
  std::vector<CpuSighting> sightings_;
  std::vector<TraceTarget> candidates_;  // without the skipped ones
  std::vector<SkippedTarget> skipped_;
  std::optional<Error> first_refusal_;
};

}  // namespace htmtrace
