// SPDX-License-Identifier: GPL-2.0-or-later
// Context switches and names of tasks in a perf.data file: perf record --switch-events.
#pragma once

#include <cstdint>
#include <map>

#include "core/dtl_task_names.h"
#include "core/dtl_tasks.h"
#include "core/perf_data_records.h"

namespace htmtrace::perf_data {

class TaskFinder {
 public:
  TaskFinder(const Header& header, DtlTaskNames& names,
             std::map<int, std::vector<DtlSwitch>>& switches)
      : header_(header), names_(names), switches_(switches) {}

  // `event` is that of the record; null when it is not known.
  void take(const Record& record, const Event* event);

 private:
  void take_switch(const Record& record, const Event& event);
  void take_name(const Record& record);
  void take_fork(const Record& record);
  void lose(const Record& record, const Event* event);
  static void add(std::vector<DtlSwitch>& to, uint64_t ns, DtlTask task);

  const Header& header_;
  DtlTaskNames& names_;
  std::map<int, std::vector<DtlSwitch>>& switches_;  // by CPU
  bool lost_ = false;
};

}  // namespace htmtrace::perf_data
