// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/part.h"

#include <fmt/core.h>

#include <charconv>

namespace htmtrace {

DtlPart dtl_part_of(const DtlReader& reader) {
  DtlPart part{.recording = reader.start_value("recording")};
  const std::string number = reader.start_value("part");
  std::from_chars(number.data(), number.data() + number.size(), part.number);
  return part;
}

std::string reason_of_gap(const DtlPart& last, const DtlPart& next, bool long_time) {
  if (!next.recording.empty() && next.recording == last.recording && next.number > last.number) {
    const uint64_t missing = next.number - last.number - 1;
    if (missing == 1) {
      return fmt::format("no merged file has dispatches of part {} of this recording",
                         last.number + 1);
    }
    if (missing > 1) {
      return fmt::format("no merged file has dispatches of the parts {} to {} of this recording",
                         last.number + 1, next.number - 1);
    }
    // The next part begins at once, even if the partition has no dispatch for a long time.
    if (last.whole) return {};
  }
  // Without the numbers, or if entries are missing, only the time shows a gap.
  return long_time ? "no merged file has dispatches directly before this file" : "";
}

}  // namespace htmtrace
