// SPDX-License-Identifier: GPL-2.0-or-later
// Watches on which CPUs a workload and its descendants run, which files they execute, and which of
// them create processes. Uses one perf software event for each CPU.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "output/symbols/program_maps.h"
#include "ringbuf/event_fd.h"
#include "ringbuf/perf_ring.h"

namespace htmtrace {

// Identifies a file as /proc/PID/maps does. Files on different devices can have the same inode.
struct FileId {
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  auto operator<=>(const FileId&) const = default;
};

// A part of a file that the workload executes.
struct ExecutedFile {
  std::string path;
  FileId id;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  auto operator<=>(const ExecutedFile&) const = default;
};

class WorkloadWatch {
 public:
  // Starts to watch. Throws nothing: if it cannot watch, trouble() states the reason.
  explicit WorkloadWatch(pid_t workload);

  // Drains the rings. Call it now and then, or records are lost.
  void look();

  struct CpuTime {
    int cpu = 0;
    uint64_t ns = 0;
  };
  // Returns the run times so far, for each CPU on which the workload ran. Throws Error. Also learns
  // whether the kernel dropped records; call look() first.
  std::vector<CpuTime> times();

  const std::set<ExecutedFile>& files() const { return files_; }
  // The executable mappings of all files.
  const std::set<CodeMapping>& mappings() const { return mappings_; }
  // The processes that created other processes.
  const std::set<pid_t>& parents() const { return parents_; }
  // True if files(), mappings() and parents() may be incomplete.
  bool lost() const { return lost_; }
  // True if mappings() lacks those beyond kMostCodeMappings.
  bool cut() const { return cut_; }
  const std::string& trouble() const { return trouble_; }
  // When the watch began, by CLOCK_REALTIME_COARSE.
  const timespec& begun() const { return begun_; }

 private:
  struct OnCpu {
    int cpu;
    EventFd event;
    std::optional<PerfRing> ring;
  };

  void take(const Record& record);

  timespec begun_{};
  std::vector<OnCpu> all_;
  std::set<ExecutedFile> files_;
  std::set<CodeMapping> mappings_;
  std::set<pid_t> parents_;
  bool lost_ = false;
  bool cut_ = false;
  std::string trouble_;
};

}  // namespace htmtrace
