// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/nest_choice.h"

#include "core/base/error.h"

namespace htmtrace {

void check_nest_selection(const Selection& s, const std::string& trace) {
  if (s.ea.empty() && !s.by_name && !s.by_process && !s.data_by_name && s.data_ea.empty() &&
      s.data_ra.empty() && s.data_la.empty() && s.privileges == 0 && s.classes == 0 &&
      s.numbers.first == 0 && s.numbers.last == Selection::kAny && !s.from_mark && !s.to_mark &&
      s.last == Selection::kAny) {
    return;
  }
  throw Error("cannot apply this selection to " + trace + ": it is a nest trace")
      .hint("nest traces accept --ra, --la, --ticks, --command, --every and --first");
}

}  // namespace htmtrace
