// SPDX-License-Identifier: GPL-2.0-or-later
// The position of a file among the files of --rotate: htmtrace-dtl(5), "start".
#pragma once

#include <cstdint>
#include <string>

#include "output/recording/dispatches.h"

namespace htmtrace {

struct DtlPart {
  std::string recording;  // empty: unknown
  uint64_t number = 0;    // from 1
  bool whole = false;     // the file has an end, which reports no missing entries
};

// Reads the recording and the number from the first block. Does not set `whole`.
DtlPart dtl_part_of(const DtlReader& reader);

// Returns why a partition may have dispatches between the files `last` and `next` that neither file
// has; empty if `next` continues `last`. `long_time`: a second or more passed between the files.
std::string reason_of_gap(const DtlPart& last, const DtlPart& next, bool long_time);

}  // namespace htmtrace
