// SPDX-License-Identifier: GPL-2.0-or-later
// Generates random records of a bus trace with few tickets. Responses thus match commands, arrive
// too late, or match no command. Stamps, timers and records of random bits are in between.
#pragma once

#include <cstdint>
#include <vector>

#include "core/nest_trace/events.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace::generator {

// The words of `records` records. An unknown layout gets those of POWER9.
std::vector<uint64_t> nest_words(Random& random, nest::Layout layout, unsigned records);

}  // namespace htmtrace::generator
