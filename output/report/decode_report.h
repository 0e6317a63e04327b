// SPDX-License-Identifier: GPL-2.0-or-later
// Prints a decoder's counts for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/core_trace/statistics.h"
#include "core/memory_map/translation.h"
#include "core/nest_trace/statistics.h"

namespace htmtrace {

class BasicBlocks;

// Returns several lines with line ends. Omits zero counts that carry no information.
std::string describe(const CoreStatistics& statistics);
std::string describe(const TranslationReport& report);
std::string describe(const BasicBlocks& blocks, uint64_t intervals);

// "536870912 bytes, 12 instructions, 0 losses, 0 defects", or "..., 12 commands, ..." for bus
// traces. A selection appends "3 selected".
struct DecodeTotals {
  uint64_t bytes = 0;
  uint64_t instructions = 0;
  uint64_t commands = 0;  // for bus traces
  uint64_t losses = 0;
  uint64_t defects = 0;
  std::optional<uint64_t> selected;  // events; empty without a selection

  void add_selected(uint64_t events) {
    if (selected) *selected += events;
  }
  void add(const CoreStatistics& statistics);
  void add(const nest::Statistics& statistics);
};
std::string describe(const DecodeTotals& totals);

}  // namespace htmtrace
