// SPDX-License-Identifier: GPL-2.0-or-later
// nest::HotSpots for people and for programs. htmtrace-report(1).
#pragma once

#include <cstddef>
#include <string>

#include "core/nest_hot_spots.h"
#include "output/decode_report.h"
#include "output/page_names.h"

namespace htmtrace {

// "g1.c2.core:042", of a nest::source_key().
std::string nest_source_name(nest::Layout layout, uint32_t key);
// Returns the name of a nest::kind_key(), such as "rd_go_s".
std::string nest_command_name(nest::Layout layout, uint32_t kind);

// Of the lowest logical address that was seen; empty when it has none.
std::string nest_address_name(const PageNames& names, const nest::HotAddress& hot);

struct NestHotReport {
  const nest::HotSpots& spots;
  DecodeTotals totals;
  std::string evidence;  // of the layout
  const PageNames& names;
  size_t top = 20;

  std::string to_text() const;
  std::string to_json() const;
  std::string to_csv() const;
};

}  // namespace htmtrace
