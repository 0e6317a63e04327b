// SPDX-License-Identifier: GPL-2.0-or-later
// Finds context switches and task names in a perf.data file from perf record --switch-events.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/dispatch_log/task_names.h"
#include "core/dispatch_log/tasks.h"
#include "core/perf_data/records.h"

namespace htmtrace::perf_data {

class TaskFinder {
 public:
  TaskFinder(const Header& header, DtlTaskNames& names,
             std::map<int, std::vector<DtlSwitch>>& switches)
      : header_(header), names_(names), switches_(switches) {}

  // `event` is the record's event, or null if unknown.
  void take(const Record& record, const Event* event);

 private:
  void take_switch(const Record& record, const Event& event);
  void take_name(const Record& record);
  void take_fork(const Record& record);
  void lose(const Record& record, const Event* event);
  static void add(std::vector<DtlSwitch>& to, uint64_t ns, DtlTask task);

  const Header& header_;
  DtlTaskNames& names_;
  std::map<int, std::vector<DtlSwitch>>& switches_;  // keyed by CPU
  bool lost_ = false;
  // CPUs with switches since the last loss of an unknown CPU: only their task becomes unknown.
  std::vector<int> known_;
};

}  // namespace htmtrace::perf_data
