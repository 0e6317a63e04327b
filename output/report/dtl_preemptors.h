// SPDX-License-Identifier: GPL-2.0-or-later
// Prints who ran while a partition waited, for people and programs. htmtrace-dtl(1).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/preemptors.h"
#include "output/print/dtl_format.h"

namespace htmtrace {

struct DtlPreemptorTable {
  DtlClock clock;  // has a frequency
  const DtlPreemptors* waits = nullptr;
  std::vector<std::string> names;  // of the partitions; the first partition is the one that waited
  size_t top = 10;                 // most lines of each table without a fixed length

  std::string to_text(DtlFormat format) const;
};

}  // namespace htmtrace
