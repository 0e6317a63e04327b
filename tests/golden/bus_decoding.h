// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/memory_map/translation.h"

namespace htmtrace::golden {

// Returns the tool's output for a bus trace of one engine: events, statistics and a report. Throws
// std::runtime_error when the statistics do not account for every byte.
std::string decode_bus(bool power8, std::span<const std::byte> trace, const TranslationMap& map,
                       size_t piece);

}  // namespace htmtrace::golden
