// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/task_waits.h"

#include <algorithm>

namespace htmtrace {

DtlTaskWaits::Wait& DtlTaskWaits::of(DtlTask task) {
  if (!task.known()) return unknown_;
  if (task.idle()) return idle_;
  if (!tasks_) tasks_.emplace(kMostTasks);
  return tasks_->at(task.key());
}

void DtlTaskWaits::add(std::span<const DtlEntry> entries, std::span<const DtlTask> tasks) {
  for (size_t i = 0; i < entries.size(); i++) {
    const uint64_t ticks = uint64_t{entries[i].enqueue_to_dispatch} + entries[i].ready_to_enqueue;
    Wait& wait = of(tasks[i]);
    wait.count += ticks;
    wait.times.add(static_cast<uint32_t>(std::min<uint64_t>(ticks, UINT32_MAX)));
    wait.by_reason[std::min<size_t>(entries[i].preempt_reason, wait.by_reason.size() - 1)] += ticks;
  }
}

void DtlTaskWaits::add(const DtlTaskWaits& other) {
  const auto sum = [](Wait& to, const Wait& from) {
    to.count += from.count;
    to.times.add(from.times);
    for (size_t i = 0; i < to.by_reason.size(); i++) to.by_reason[i] += from.by_reason[i];
  };
  sum(idle_, other.idle_);
  sum(unknown_, other.unknown_);
  if (!other.tasks_) return;
  for (const auto& slot : other.tasks_->entries()) sum(of(DtlTask::of_key(slot.key)), slot.entry);
  if (!tasks_) tasks_.emplace(kMostTasks);
  tasks_->add_error(other.tasks_->error());
}

}  // namespace htmtrace
