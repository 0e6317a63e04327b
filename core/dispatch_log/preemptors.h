// SPDX-License-Identifier: GPL-2.0-or-later
// Divides the waits of a partition by the virtual processors that ran meanwhile on the physical
// processor of the dispatch. A wait is the stolen time of a dispatch, as in DtlAnalysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/budget.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/processor_runs.h"

namespace htmtrace {

class DtlPreemptors {
 public:
  // A part of the waits.
  struct Part {
    uint64_t waits = 0;  // those of which this part is not 0
    uint64_t ticks = 0;
    uint64_t longest = 0;  // ticks of a single wait

    void add(uint64_t of_wait);
  };
  struct Wait {
    uint64_t dispatched = 0;  // timebase
    uint64_t ticks = 0;
    int cpu = 0;
    uint16_t processor = 0;
    std::optional<DtlOwner> owner;  // ran longest; empty: nobody known ran
    uint64_t owner_ticks = 0;
  };
  using OwnerPart = std::pair<DtlOwner, Part>;

  // `runs` are finished and outlive this object. Keeps the `top` longest waits.
  DtlPreemptors(const ProcessorRuns& runs, size_t top, WorkBudget work)
      : runs_(runs),
        top_(top),
        work_(work),
        owners_(runs.owners().size()),
        of_wait_(runs.owners().size()) {}

  // Adds entries of a virtual processor in time order. Throws Error if the waits overlap more
  // runs than an undamaged file has.
  void add(int cpu, std::span<const DtlEntry> entries);

  const Part& all() const { return all_; }
  // Nobody known ran: the processor was idle, or another partition or the hypervisor used it.
  const Part& unknown() const { return unknown_; }
  // By partition; a partition that never ran meanwhile is absent.
  const std::map<size_t, Part>& partitions() const { return partitions_; }
  // The virtual processors of a partition, most time first.
  std::vector<OwnerPart> owners_of(size_t partition) const;
  // Longest first.
  std::vector<Wait> longest() const;

 private:
  void divide(Wait wait);
  void keep(const Wait& wait);

  const ProcessorRuns& runs_;
  size_t top_;
  WorkBudget work_;
  Part all_, unknown_;
  std::vector<Part> owners_;  // by number
  std::map<size_t, Part> partitions_;
  std::map<int, uint64_t> last_;  // dispatch of each virtual processor
  std::vector<Wait> longest_;     // a heap, the shortest first
  // Of the current wait:
  std::vector<uint64_t> of_wait_;  // ticks of each owner
  std::vector<uint16_t> met_;      // owners with ticks
  std::map<size_t, uint64_t> partitions_of_wait_;
};

}  // namespace htmtrace
