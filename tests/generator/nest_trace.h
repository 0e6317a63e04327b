// SPDX-License-Identifier: GPL-2.0-or-later
// Random records of a bus trace: commands of few tickets, so that responses find commands, too late
// ones and none, with stamps, timers and records of any bits between them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/nest_events.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace::generator {

// The words of `records` records. An unknown layout gets those of POWER9.
std::vector<uint64_t> nest_words(Random& random, nest::Layout layout, unsigned records);

}  // namespace htmtrace::generator
