// SPDX-License-Identifier: GPL-2.0-or-later
// The page of core traces.
#pragma once

#include <string>
#include <vector>

#include "output/page/html_page.h"
#include "output/report/call_tree_report.h"
#include "output/report/heat_map_report.h"
#include "output/report/hot_spots_report.h"
#include "output/report/timeline_report.h"

namespace htmtrace {

struct CorePage {
  PageHead head;
  HotSpotsReport hot;
  CallTreeReport calls;
  const HeatMapReport& heat;
  const std::vector<TimelineReport::Trace>& timelines;

  std::string to_html() const;
};

// The heat map as a section of any page.
void add_heat_map(HtmlPage& page, const HeatMapReport& heat);

}  // namespace htmtrace
