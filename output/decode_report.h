// SPDX-License-Identifier: GPL-2.0-or-later
// What a decoder counted, for people.
#pragma once

#include <string>

#include "core/core_statistics.h"
#include "core/nest_statistics.h"
#include "core/translation_map.h"

namespace htmtrace {

class BasicBlocks;
struct QtraceCounts;

// Several lines, each ended. Counts that are zero and say nothing by being so are left out.
std::string describe(const CoreStatistics& statistics);
std::string describe(const TranslationReport& report);
std::string describe(const QtraceCounts& counts);
std::string describe(const BasicBlocks& blocks, uint64_t intervals);

// "536870912 bytes, 12 instructions, 0 losses, 0 defects"; of bus traces "..., 12 commands, ..."
struct DecodeTotals {
  uint64_t bytes = 0;
  uint64_t instructions = 0;
  uint64_t commands = 0;  // of bus traces
  uint64_t losses = 0;
  uint64_t defects = 0;

  void add(const CoreStatistics& statistics);
  void add(const nest::Statistics& statistics);
};
std::string describe(const DecodeTotals& totals);

}  // namespace htmtrace
