// SPDX-License-Identifier: GPL-2.0-or-later
// The position of a file among the files of --rotate: htmtrace-dtl(5), "start".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "output/recording/dispatches.h"

namespace htmtrace {

struct DtlPart {
  std::string recording;  // empty: unknown
  uint64_t number = 0;    // from 1; 0: unknown
  bool whole = false;     // the file has no damage, and its end reports no missing entries
};

// Call it when the reader has reached the end of the file.
DtlPart dtl_part_of(const DtlReader& reader);

// Finds out whether files are missing between the files of a partition.
class DtlParts {
 public:
  // A whole file without dispatches is not missing. Call it before next().
  void add_silent(const DtlPart& part) {
    if (part.whole) silent_.emplace(part.recording, part.number);
  }

  // Takes the files of all partitions in time order. Returns why the partition may have dispatches
  // before this file that no file has; empty if the file continues the preceding files.
  // `long_time`: a second or more passed since their last dispatch.
  std::string next(const DtlPart& part, bool long_time);

 private:
  std::map<std::string, DtlPart> last_;  // of each recording
  std::set<std::pair<std::string, uint64_t>> silent_;
};

}  // namespace htmtrace
