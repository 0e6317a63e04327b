// SPDX-License-Identifier: GPL-2.0-or-later
// Compares two core traces.
#pragma once

#include <vector>

#include "core/analysis/hot_spots.h"
#include "output/report/diff_report.h"
#include "output/symbols/mapping_names.h"

namespace htmtrace {

struct CoreDiffSide {
  const HotSpots& spots;
  const MappingNames& mappings;
};

// Compares privileges, kinds of instructions, code, and data in each unit. Both sides must have the
// same options. Names of functions and objects join code and data, because another build may have
// other addresses. Mappings join data without a name.
std::vector<DiffTable> compare_cores(const CoreDiffSide& before, const CoreDiffSide& after);

}  // namespace htmtrace
