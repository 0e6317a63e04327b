// SPDX-License-Identifier: GPL-2.0-or-later
// Prints nest::HotSpots for people and for programs. htmtrace-report(1).
#pragma once

#include <cstddef>
#include <string>

#include "core/analysis/nest_hot_spots.h"
#include "output/report/decode_report.h"
#include "output/symbols/page_names.h"

namespace htmtrace {

// Returns the name of a nest::source_key(), such as "g1.c2.core:042".
std::string nest_source_name(nest::Layout layout, uint32_t key);
// Returns the name of a nest::kind_key(), such as "rd_go_s".
std::string nest_command_name(nest::Layout layout, uint32_t kind);

// Names the lowest logical address that was seen. Empty if this address has no name.
std::string nest_address_name(const PageNames& names, const nest::HotAddress& hot);

// The units that sent the commands, and the names of the commands: "g0.c1.core:042(3)".
std::string nest_sources_text(const nest::HotSpots& spots, const nest::HotAddress& hot,
                              size_t most);
std::string nest_commands_text(const nest::HotSpots& spots, const nest::HotAddress& hot,
                               size_t most);

struct NestHotReport {
  const nest::HotSpots& spots;
  DecodeTotals totals;
  std::string evidence;  // evidence for the layout
  const PageNames& names;
  size_t top = 20;

  // Lines about the traces, and about commands that are in no table.
  std::string basis() const;
  // The table of all commands by requesting chip.
  std::string chips_text() const;

  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

}  // namespace htmtrace
