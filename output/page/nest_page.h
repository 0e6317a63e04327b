// SPDX-License-Identifier: GPL-2.0-or-later
// The page of nest traces.
#pragma once

#include <string>

#include "output/page/html_page.h"
#include "output/report/heat_map_report.h"
#include "output/report/nest_hot_report.h"

namespace htmtrace {

struct NestPage {
  PageHead head;
  const NestHotReport& hot;
  const HeatMapReport& heat;

  std::string to_html() const;
};

}  // namespace htmtrace
