// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/perf_data/tasks.h"

#include <algorithm>
#include <utility>

namespace htmtrace::perf_data {
namespace {

constexpr uint16_t kSwitchOut = 1 << 13;  // PERF_RECORD_MISC_SWITCH_OUT

DtlTask read_task(Fields& fields) {
  DtlTask task;
  task.pid = fields.u32();
  task.tid = fields.u32();
  return task;
}

}  // namespace

void TaskFinder::take(const Record& record, const Event* event) {
  switch (record.type) {
    case kRecordSwitchCpuWide:
      if (event != nullptr) take_switch(record, *event);
      return;
    case kRecordComm:
      return take_name(record);
    case kRecordFork:
      return take_fork(record);
    case kRecordLost:
      return lose(record, event);
    default:
      return;
  }
}

void TaskFinder::add(std::vector<DtlSwitch>& to, uint64_t ns, DtlTask task) {
  if (!to.empty()) ns = std::max(ns, to.back().ns);
  if (to.empty() || to.back().task != task) to.push_back({ns, task});
}

// The kernel writes a record when a task leaves and another record when the next task arrives; both
// records name both tasks. Times on another clock than perf's own cannot be compared with entries.
void TaskFinder::take_switch(const Record& record, const Event& event) {
  if (event.other_clock) return;
  const auto cpu = trailer_cpu(record.body, event, header_.big_endian);
  const auto time = trailer_time(record.body, event, header_.big_endian);
  const auto own = trailer_task(record.body, event, header_.big_endian);
  Fields body(record.body, header_.big_endian);
  const DtlTask other = read_task(body);
  if (!cpu || *cpu >= kMostCpus || !time || !own || !body.good()) return;
  std::vector<DtlSwitch>& to = switches_[static_cast<int>(*cpu)];
  const bool out = (record.misc & kSwitchOut) != 0;
  if (to.empty() || !to.back().task.known()) known_.push_back(static_cast<int>(*cpu));
  if (to.empty()) add(to, 0, lost_ ? DtlTask{} : out ? *own : other);
  add(to, *time, out ? other : *own);
}

void TaskFinder::take_name(const Record& record) {
  Fields body(record.body, header_.big_endian);
  const DtlTask task = read_task(body);
  if (!body.good()) return;
  const auto text = record.body.subspan(body.offset());
  const auto end = std::ranges::find(text, std::byte{0});
  names_.set(task,
             {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(end - text.begin())});
}

void TaskFinder::take_fork(const Record& record) {
  Fields body(record.body, header_.big_endian);
  DtlTask child, parent;
  child.pid = body.u32();
  parent.pid = body.u32();
  child.tid = body.u32();
  parent.tid = body.u32();
  if (body.good()) names_.inherit(child, parent);
}

// Records are lost on this CPU, or on any CPU. The current task is unknown until the next switch.
void TaskFinder::lose(const Record& record, const Event* event) {
  const auto cpu =
      event == nullptr ? std::nullopt : trailer_cpu(record.body, *event, header_.big_endian);
  lost_ = true;
  if (cpu) {
    const auto found = switches_.find(static_cast<int>(*cpu));
    if (found != switches_.end()) add(found->second, 0, {});
    return;
  }
  for (const int number : std::exchange(known_, {})) add(switches_[number], 0, {});
}

}  // namespace htmtrace::perf_data
