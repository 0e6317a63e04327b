// SPDX-License-Identifier: GPL-2.0-or-later
// Two nest (bus) traces side by side.
#pragma once

#include <vector>

#include "core/nest_profile.h"
#include "output/diff_report.h"

namespace htmtrace {

// Commands, who sent them, and their addresses in each unit. Both have the same wishes. Names join
// them, so that traces of different processors can be compared.
std::vector<DiffTable> compare_nests(const nest::Profile& before, const nest::Profile& after);

}  // namespace htmtrace
