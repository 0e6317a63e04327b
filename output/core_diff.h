// SPDX-License-Identifier: GPL-2.0-or-later
// Two core traces side by side.
#pragma once

#include <vector>

#include "core/hot_spots.h"
#include "output/diff_report.h"
#include "output/mapping_names.h"

namespace htmtrace {

struct CoreDiffSide {
  const HotSpots& spots;
  const MappingNames& mappings;
};

// Privileges, kinds of instructions, code, and data in each unit. Both have the same wishes. Code
// and data are joined by the names of their functions and objects, where they have them: another
// build of it may lie elsewhere. Other data are joined by the mapping that they are in.
std::vector<DiffTable> compare_cores(const CoreDiffSide& before, const CoreDiffSide& after);

}  // namespace htmtrace
