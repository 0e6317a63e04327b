// SPDX-License-Identifier: GPL-2.0-or-later
// Tasks beside the entries of a dispatch trace log, and which of them waited: htmtrace-dtl(1).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/dtl_entry.h"
#include "core/dtl_task_names.h"
#include "core/dtl_task_waits.h"
#include "output/dtl_format.h"

namespace htmtrace {

// Of entries that are printed: the task of each.
struct DtlTaskColumn {
  std::span<const DtlTask> tasks;
  const DtlTaskNames* names = nullptr;

  // ", tid:42, comm:sleep"; CSV's ",42,42,sleep"; or what that is in JSON.
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
