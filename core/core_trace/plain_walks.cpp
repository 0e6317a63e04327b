// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/plain_walks.h"

#include "core/core_trace/words.h"

namespace htmtrace {

size_t take_plain_walks(const WordRun& run, Power10Stream& stream, CoreStatistics& statistics) {
  constexpr size_t kMostWords = 7;  // of an INFO record
  WordRun rest = run;
  while (rest.count != 0 && words::is_xlate(rest[0])) {
    const Framing framing = frame_power10_xlate(rest);
    if (framing.verdict != Framing::Verdict::kWhole || framing.reserved_bits) break;
    stream.take_xlate(rest, framing, statistics);
    statistics.xlate_words += framing.words;
    rest = rest.from(rest.words + framing.words * words::kWordBytes);
  }
  if (rest.count != run.count && rest.count >= kMostWords) {
    if (is_plain_line(rest.words)) {
      stream.take_line(rest, statistics);
      statistics.line_words += words::kIearaWords;
      rest = rest.from(rest.words + words::kIearaWords * words::kWordBytes);
    } else if (words::is_info10(rest[0])) {
      const Framing framing = frame_power10_info(rest);
      if (framing.verdict == Framing::Verdict::kWhole && !framing.reserved_bits) {
        stream.begin_info(rest[0], statistics);
      }
    }
  }
  return run.count - rest.count;
}

}  // namespace htmtrace
