// SPDX-License-Identifier: GPL-2.0-or-later
// Prints tasks beside the entries of a dispatch trace log, and the wait times of tasks:
// htmtrace-dtl(1).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/task_names.h"
#include "core/dispatch_log/task_waits.h"
#include "output/print/dtl_format.h"

namespace htmtrace {

// The task of each printed entry.
struct DtlTaskColumn {
  std::span<const DtlTask> tasks;
  const DtlTaskNames* names = nullptr;

  // Returns ", tid:42, comm:sleep", or CSV's ",42,42,sleep", or the same fields in JSON.
  std::string text(DtlFormat format, size_t entry) const;
};

struct DtlTaskTable {
  DtlClock clock;
  const DtlTaskWaits* waits = nullptr;
  const DtlTaskNames* names = nullptr;
  size_t top = 10;

  std::string to_text(DtlFormat format) const;
};

}  // namespace htmtrace
