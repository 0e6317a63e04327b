// SPDX-License-Identifier: GPL-2.0-or-later
// Which unit of a chip a command came from. htm-nest-trace(5), UNITS.
#pragma once

#include <string_view>

#include "core/nest_events.h"

namespace htmtrace::nest {

// "core", "mcs", "npu", ...; "other" for a number that none has. POWER9's test for a core shadows
// some of the others, and comes last here.
std::string_view unit_name(Layout layout, unsigned unit);

}  // namespace htmtrace::nest
