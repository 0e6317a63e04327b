// SPDX-License-Identifier: GPL-2.0-or-later
// Traces cores while markers run on CPUs, and finds the cores whose traces hold the markers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/locate/marker_loop.h"
#include "cli/locate/target_trace.h"
#include "core/analysis/marker.h"
#include "core/base/error.h"
#include "core/base/target.h"
#include "pmu/description.h"

namespace htmtrace {

// A core that could not be traced, for example because it is in use.
struct SkippedTarget {
  TraceTarget target;
  std::string reason;
};

class MarkerQuest {
 public:
  using Loops = std::vector<std::unique_ptr<MarkerLoop>>;

  // The loop with an index runs the marker with the same index. `pmu` belongs to htmtrace's own
  // driver, because other drivers do not leave the macros of other users alone.
  // `candidates` are core targets. The other arguments outlive this object.
  MarkerQuest(const PmuDescription& pmu, const std::vector<Marker>& markers, const Loops& loops,
              std::vector<TraceTarget> candidates);

  // Traces the candidates, as many at once as there are carrier CPUs, until the core of each marker
  // is found or all have been traced several times. Throws Error if no candidate can be traced.
  void run();

  // The cores whose traces of one batch hold the marker. One core: the CPU ran on it. Several: the
  // hypervisor moved the CPU during the trace. None: no trace holds the marker.
  const std::vector<TraceTarget>& cores_of(size_t marker) const { return cores_[marker]; }

  const std::vector<SkippedTarget>& skipped() const { return skipped_; }
  // The number of cores that were traced.
  size_t traced() const { return candidates_.size(); }

 private:
  using Batch = std::vector<std::unique_ptr<TargetTrace>>;

  bool is_found(size_t marker) const { return cores_[marker].size() == 1; }
  bool all_found() const;
  Batch open_batch(size_t& next);
  struct Attempt;
  void trace(Batch& batch, const Attempt& attempt);
  void start(Batch& batch);
  void await_markers(std::chrono::milliseconds most) const;
  void read(Batch& batch, uint64_t most_bytes);
  void note_cores(const Batch& batch);
  void skip(const TraceTarget& target, const Error& error);

  const PmuDescription& pmu_;
  const std::vector<Marker>& markers_;
  const Loops& loops_;
  std::vector<TraceTarget> candidates_;  // without the skipped ones
  std::vector<std::vector<TraceTarget>> cores_;
  std::vector<SkippedTarget> skipped_;
  std::optional<Error> first_refusal_;
};

}  // namespace htmtrace
