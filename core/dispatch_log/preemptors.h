// SPDX-License-Identifier: GPL-2.0-or-later
// Divides the waits of a partition among the virtual processors that ran during these waits on the
// physical processor of the dispatch. A wait is the stolen time of a dispatch, as in DtlAnalysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/budget.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/processor_runs.h"
#include "core/dispatch_log/unknown_time.h"

namespace htmtrace {

class DtlPreemptors {
 public:
  // The part of the waits during which one partition or virtual processor ran.
  struct Part {
    uint64_t waits = 0;  // number of waits with ticks of this part
    uint64_t ticks = 0;
    uint64_t longest = 0;  // most ticks within a single wait

    void add(uint64_t of_wait);
  };
  struct Wait {
    uint64_t dispatched = 0;  // timebase
    uint64_t ticks = 0;
    int cpu = 0;
    uint16_t processor = 0;
    std::optional<DtlOwner> owner;  // the owner that ran longest; empty: no recorded owner ran
    uint64_t owner_ticks = 0;       // within this wait
  };
  using OwnerPart = std::pair<DtlOwner, Part>;

  struct Options {
    size_t top = 10;            // number of longest waits to keep
    uint64_t window_ticks = 0;  // length of a dispatch window
  };

  // `runs` are finished and outlive this object.
  DtlPreemptors(const ProcessorRuns& runs, const Options& options, WorkBudget work)
      : runs_(runs),
        options_(options),
        work_(work),
        owners_(runs.owners().size()),
        of_wait_(runs.owners().size()) {}

  // Adds an entry of a virtual processor. Entries of a virtual processor arrive in time order.
  // `hour` is the hour of the entry, UTC; empty if it is unknown. Throws Error if the waits overlap
  // more runs than an undamaged file has.
  void add(int cpu, const DtlEntry& entry, std::optional<unsigned> hour);

  const Part& all() const { return all_; }
  // The time during which no recorded virtual processor ran: the physical processor was idle, or
  // the hypervisor or a partition without a recording used it.
  const Part& unknown() const { return unknown_; }
  const DtlUnknownTime& unknown_time() const { return unknown_time_; }
  // By partition. A partition that did not run during a wait is absent.
  const std::map<size_t, Part>& partitions() const { return partitions_; }
  // The virtual processors of a partition that ran during a wait, the longest time first.
  std::vector<OwnerPart> owners_of(size_t partition) const;
  // Longest first.
  std::vector<Wait> longest() const;

 private:
  uint64_t visit(uint16_t processor, const DtlWindow& window);
  void finish(Wait wait, uint64_t unknown);
  void keep(const Wait& wait);

  const ProcessorRuns& runs_;
  Options options_;
  WorkBudget work_;
  Part all_, unknown_;
  DtlUnknownTime unknown_time_;
  std::vector<Part> owners_;  // by number
  std::map<size_t, Part> partitions_;
  std::map<int, uint64_t> last_;  // timebase of the last dispatch of each virtual processor
  std::vector<Wait> longest_;     // a heap, the shortest first
  // The parts of the current wait, which visit() collects and finish() clears.
  std::vector<uint64_t> of_wait_;  // ticks of each owner
  std::vector<uint16_t> met_;      // owners with ticks
  std::map<size_t, uint64_t> partitions_of_wait_;
};

}  // namespace htmtrace
