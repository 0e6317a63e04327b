// SPDX-License-Identifier: GPL-2.0-or-later
// Prints Passages for people and for programs. htmtrace-report(1), PASSAGES.
#pragma once

#include <cstddef>
#include <string>

#include "core/analysis/passages.h"
#include "output/report/decode_report.h"

namespace htmtrace {

struct PassagesReport {
  const Passages& passages;
  std::string from, to;  // as the user typed them
  DecodeTotals totals;   // all decoded events, selected or not
  size_t traces = 0;

  std::string to_text() const;
  std::string to_json() const;
};

}  // namespace htmtrace
