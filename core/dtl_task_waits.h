// SPDX-License-Identifier: GPL-2.0-or-later
// Which task waited: for each task the dispatches of its virtual processor while it was the one
// that was there, and what was waited for before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/dtl_entry.h"
#include "core/dtl_tasks.h"
#include "core/hot_table.h"
#include "core/tick_histogram.h"

namespace htmtrace {

class DtlTaskWaits {
 public:
  struct Wait {
    uint64_t count = 0;   // ticks that were waited, by which the table goes
    TickHistogram times;  // of each dispatch, from ready to dispatch
  };
  using Table = HotTable<Wait>;

  // One task for each entry.
  void add(std::span<const DtlEntry> entries, std::span<const DtlTask> tasks);
  void add(const DtlTaskWaits& other);

  // By DtlTask::key(). Null when there were none.
  const Table* tasks() const { return tasks_ ? &*tasks_ : nullptr; }
  const Wait& idle() const { return idle_; }
  const Wait& unknown() const { return unknown_; }

 private:
  // Seven KiB each.
  static constexpr size_t kMostTasks = 2048;

  Wait& of(DtlTask task);

  std::optional<Table> tasks_;  // only made when it is needed
  Wait idle_, unknown_;
};

}  // namespace htmtrace
