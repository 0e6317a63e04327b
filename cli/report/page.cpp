// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>

#include "cli/traces/context.h"

namespace htmtrace {

PageHead page_head(const std::vector<ChosenTrace>& traces, const ReportOptions& options) {
  constexpr size_t kNamed = 4;
  PageHead head{.title = {}, .program = "htmtrace " HTMTRACE_VERSION};
  for (const ChosenTrace& trace : std::span(traces).first(std::min(kNamed, traces.size()))) {
    head.title += (head.title.empty() ? "" : "; ") + trace.describe();
  }
  if (traces.size() > kNamed) head.title += fmt::format("; {} more", traces.size() - kNamed);
  for (const Discrepancy& lack : missing_of(traces, options.traces.context)) {
    head.warnings.push_back(lack.text);
  }
  return head;
}

}  // namespace htmtrace
