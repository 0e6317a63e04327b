// SPDX-License-Identifier: GPL-2.0-or-later
// Compares two nest (bus) traces.
#pragma once

#include <vector>

#include "core/analysis/nest_profile.h"
#include "output/report/diff_report.h"
#include "output/symbols/page_names.h"

namespace htmtrace {

struct NestDiffSide {
  const nest::Profile& profile;
  const PageNames& names;
};

// Compares commands, their senders, and their addresses in each unit. Both sides must have the same
// options. Names of commands and units join the sides, so traces of different processors can be
// compared. Addresses are not joined by name, because each run uses other memory.
std::vector<DiffTable> compare_nests(const NestDiffSide& before, const NestDiffSide& after);

}  // namespace htmtrace
