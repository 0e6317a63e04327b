// SPDX-License-Identifier: GPL-2.0-or-later
// What the decoders of a nest trace counted, for people.
#pragma once

#include <string>

#include "core/nest_statistics.h"

namespace htmtrace {

// Several lines, each ended.
std::string describe(const nest::Statistics& statistics);

}  // namespace htmtrace
