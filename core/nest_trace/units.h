// SPDX-License-Identifier: GPL-2.0-or-later
// The unit of a chip that sent a command. htm-nest-trace(5), UNITS.
#pragma once

#include <string_view>

#include "core/nest_trace/events.h"

namespace htmtrace::nest {

// "core", "mcs", "npu", ...; "other" for an unknown number. POWER9's test for a core matches some
// of the other units' numbers, too, so the core comes last.
std::string_view unit_name(Layout layout, unsigned unit);

}  // namespace htmtrace::nest
