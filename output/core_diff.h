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

// Compares privileges, kinds of instructions, code, and data in each unit. Both sides must have the
// same options. Code and data are joined by the names of their functions and objects, because
// another build may have other addresses. Data without a name are joined by their mapping.
std::vector<DiffTable> compare_cores(const CoreDiffSide& before, const CoreDiffSide& after);

}  // namespace htmtrace
