// SPDX-License-Identifier: GPL-2.0-or-later
// What `htmtrace record` reports of its workload at the end: where it ran, and how much of the
// trace is its own. A trace of a core holds whatever runs on that core; the CPUs that belong to the
// core are not known in general.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/workload_share.h"
#include "cli/workload_watch.h"
#include "output/manifest.h"

namespace htmtrace {

class WorkloadAccount {
 public:
  // Before the workload runs its command.
  explicit WorkloadAccount(pid_t workload);

  // Now and then while it runs.
  void look() { watch_.look(); }

  // When its trace ends: what it has done so far counts.
  void end();
  const std::vector<WorkloadWatch::CpuTime>& times() const { return times_; }

  // Counts its instructions in the core traces of a recording, whose files are closed. Takes
  // kMostMeasuring at most.
  static constexpr std::chrono::seconds kMostMeasuring{10};
  void measure(const std::filesystem::path& folder, const Manifest& manifest);

  // "the workload ran 1.20 s on cpu 1; at least 1000 of 4000 instructions ...".
  std::string line() const;
  // It ran, not only waited, for `traced` of tracing, and no instruction of the trace is its own.
  bool is_absent(std::chrono::nanoseconds traced) const;
  std::string describe_absence() const;

 private:
  uint64_t run_ns() const;
  std::string cpus() const;

  std::set<uint64_t> shared_inodes_;
  WorkloadWatch watch_;
  std::vector<WorkloadWatch::CpuTime> times_;
  std::string times_trouble_;
  std::optional<WorkloadShare> share_;
  std::string share_trouble_ = "it was not measured";
};

}  // namespace htmtrace
