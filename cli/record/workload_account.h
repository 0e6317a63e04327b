// SPDX-License-Identifier: GPL-2.0-or-later
// The final report of `htmtrace record` about its workload: the CPUs on which it ran, and its share
// of the trace. A core trace holds all that runs on that core, and htmtrace does not know in
// general which CPUs belong to the core.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/record/workload_share.h"
#include "cli/record/workload_watch.h"
#include "output/recording/manifest.h"

namespace htmtrace {

class WorkloadAccount {
 public:
  // Construct it before the workload runs its command. `pagemap` is this process's, and outlives
  // this object; see open_own_pagemap().
  WorkloadAccount(pid_t workload, const Fd& pagemap);

  // Call it now and then while the workload runs.
  void look() { watch_.look(); }
  const WorkloadWatch& watch() const { return watch_; }

  // Call it when the trace ends. Only the workload's activity so far counts.
  void end();
  // Reads the records of files and processes since end(), and checks whether records were lost.
  // Call it after the trace is drained, because the trace continues until then.
  void look_last();
  const std::vector<WorkloadWatch::CpuTime>& times() const { return times_; }

  // Counts the workload's instructions in the core traces of a recording whose files are closed.
  // Takes at most kMostMeasuring.
  static constexpr std::chrono::seconds kMostMeasuring{10};
  void measure(const std::filesystem::path& folder, const Manifest& manifest);

  // "the workload ran 1.20 s on cpu 1; at least 1000 of 4000 instructions ...".
  std::string line() const;
  // True if the workload really ran during the `traced` time, and the trace has no instruction of
  // it. A workload that mostly waits does not count as absent.
  bool is_absent(std::chrono::nanoseconds traced) const;
  std::string describe_absence() const;

 private:
  uint64_t run_ns() const;
  std::string cpus() const;

  std::set<FileId> shared_files_;
  const Fd& pagemap_;
  WorkloadWatch watch_;
  std::vector<WorkloadWatch::CpuTime> times_;
  std::string times_trouble_;
  std::optional<WorkloadShare> share_;
  bool knows_all_files_ = true;  // the share counts all of the workload's own program files
  std::string share_trouble_ = "it was not measured";
};

}  // namespace htmtrace
