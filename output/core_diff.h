// SPDX-License-Identifier: GPL-2.0-or-later
// Two core traces side by side.
#pragma once

#include <vector>

#include "core/hot_spots.h"
#include "output/diff_report.h"

namespace htmtrace {

// Privileges, kinds of instructions, code, and data in each unit. Both have the same wishes. Code
// is joined by the name of its function, where it has one: another build of it may lie elsewhere.
std::vector<DiffTable> compare_cores(const HotSpots& before, const HotSpots& after);

}  // namespace htmtrace
