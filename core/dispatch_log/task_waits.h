// SPDX-License-Identifier: GPL-2.0-or-later
// Attributes waiting times to tasks. Each dispatch of a virtual processor and the wait before it
// count for the task that was current on the processor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/hot_table.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/tasks.h"
#include "core/dispatch_log/tick_histogram.h"

namespace htmtrace {

class DtlTaskWaits {
 public:
  struct Wait {
    uint64_t count = 0;   // waiting time in ticks; the table orders tasks by this value
    TickHistogram times;  // for each dispatch, from ready to dispatch
    // The waiting time by the reason why the virtual processor had stopped, in ticks. The last
    // element has all higher codes.
    std::array<uint64_t, 16> by_reason{};
  };
  using Table = HotTable<Wait>;

  // `tasks` holds one task for each entry.
  void add(std::span<const DtlEntry> entries, std::span<const DtlTask> tasks);
  void add(const DtlTaskWaits& other);

  // Keyed by DtlTask::key(). Null if no task had a dispatch.
  const Table* tasks() const { return tasks_ ? &*tasks_ : nullptr; }
  const Wait& idle() const { return idle_; }
  const Wait& unknown() const { return unknown_; }

 private:
  // A task takes 7 KiB.
  static constexpr size_t kMostTasks = 2048;

  Wait& of(DtlTask task);

  std::optional<Table> tasks_;  // allocated on first use
  Wait idle_, unknown_;
};

}  // namespace htmtrace
