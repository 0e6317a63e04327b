// SPDX-License-Identifier: GPL-2.0-or-later
// Two nest (bus) traces side by side.
#pragma once

#include <vector>

#include "core/nest_profile.h"
#include "output/diff_report.h"
#include "output/page_names.h"

namespace htmtrace {

struct NestDiffSide {
  const nest::Profile& profile;
  const PageNames& names;
};

// Commands, who sent them, and their addresses in each unit. Both have the same wishes. Names of
// commands and units join them, so that traces of different processors can be compared; those of
// addresses do not: other runs have their memory elsewhere.
std::vector<DiffTable> compare_nests(const NestDiffSide& before, const NestDiffSide& after);

}  // namespace htmtrace
