// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/part.h"

#include <fmt/core.h>

#include <charconv>
#include <system_error>

#include "cli/commands.h"

namespace htmtrace {

DtlPart dtl_part_of(const DtlReader& reader) {
  DtlPart part{
      .recording = reader.start_value("recording"),
      .whole = reader.end() && reader.end()->status == kExitDone && reader.damaged_bytes() == 0};
  const std::string number = reader.start_value("part");
  const char* const last = number.data() + number.size();
  const auto [end, failure] = std::from_chars(number.data(), last, part.number);
  if (end != last || failure != std::errc()) part.number = 0;
  return part;
}

std::string DtlParts::next(const DtlPart& part, bool long_time) {
  if (!part.recording.empty() && part.number != 0) {
    DtlPart& last = last_[part.recording];
    while (silent_.contains({part.recording, last.number + 1})) last.number++;
    const uint64_t missing = last.number + 1;
    // The next part begins at once, even if the partition has no dispatch for a long time.
    const bool continues = part.number == missing && last.whole && part.whole;
    last = part;
    if (part.number == missing + 1) {
      return fmt::format("no merged file has dispatches of part {} of this recording", missing);
    }
    if (part.number > missing) {
      return fmt::format("no merged file has dispatches of the parts {} to {} of this recording",
                         missing, part.number - 1);
    }
    if (continues) return {};
  }
  // Without the numbers, or if entries are missing, only the time shows a gap.
  return long_time ? "no merged file has dispatches directly before this file" : "";
}

}  // namespace htmtrace
