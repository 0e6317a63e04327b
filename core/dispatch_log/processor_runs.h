// SPDX-License-Identifier: GPL-2.0-or-later
// The runs of virtual processors on physical processors, from the recordings of several partitions
// of one machine. All partitions of a machine have the same timebase.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "core/base/budget.h"
#include "core/dispatch_log/entry.h"

namespace htmtrace {

// A virtual processor of a partition. The caller numbers the partitions.
struct DtlOwner {
  size_t partition = 0;
  int cpu = 0;

  auto operator<=>(const DtlOwner&) const = default;
};

// A period in ticks of the timebase, without its end.
struct DtlWindow {
  uint64_t begin = 0, end = UINT64_MAX;
};

// A run ends when the virtual processor stops: at the time of its next dispatch, minus the waits of
// that dispatch. The run ends earlier if another virtual processor is dispatched on the same
// physical processor. The last run of each virtual processor ends with the last dispatch of its
// partition.
class ProcessorRuns {
 public:
  // Stores only runs that overlap the window. Each stored run takes memory from `budget`.
  ProcessorRuns(DtlWindow window, MemoryBudget& budget) : window_(window), budget_(budget) {}

  // Adds entries of a virtual processor in time order, also across the parts of a recording. Throws
  // Error if the memory is exhausted or if there are more than 65536 virtual processors.
  void add(const DtlOwner& owner, std::span<const DtlEntry> entries);
  // Ends the last run of each virtual processor of the partition. Call it at a gap between the
  // recordings of the partition.
  void end_partition(size_t partition);
  // Ends the last run of each virtual processor, and sorts the runs. Call it once, after the last
  // entry and before visit().
  void finish();

  // The owners. The index is the owner's number.
  const std::vector<DtlOwner>& owners() const { return owners_; }

  // Calls visit(owner number, ticks) for each run on the processor within the window.
  template <class Visit>
  void visit(uint16_t processor, const DtlWindow& window, Visit visit) const {
    for (size_t at = first(processor, window.begin);
         at < runs_.size() && runs_[at].processor == processor && runs_[at].begin < window.end;
         at++) {
      const uint64_t begin = std::max(runs_[at].begin, window.begin);
      const uint64_t end = std::min(end_of(at), window.end);
      visit(runs_[at].owner, end > begin ? end - begin : 0);
    }
  }

 private:
  struct Run {
    uint64_t begin = 0, end = 0;
    uint16_t owner = 0;
    uint16_t processor = 0;
  };

  struct Dispatch {
    uint64_t timebase = 0;
    uint16_t processor = 0;
  };

  uint16_t number_of(const DtlOwner& owner);
  void put(uint16_t owner, const Dispatch& from, uint64_t stopped);
  size_t first(uint16_t processor, uint64_t begin) const;
  uint64_t end_of(size_t at) const;

  DtlWindow window_;
  MemoryBudget& budget_;
  std::deque<Run> runs_;  // grows without a copy
  std::map<DtlOwner, uint16_t> numbers_;
  std::vector<DtlOwner> owners_;
  std::map<uint16_t, Dispatch> last_;     // of each owner
  std::map<size_t, uint64_t> last_time_;  // the last dispatch of each partition
};

}  // namespace htmtrace
