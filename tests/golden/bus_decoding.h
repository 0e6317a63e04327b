// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/translation_map.h"

namespace htmtrace::golden {

// What the tool prints of a bus trace of one engine: events, statistics and a report. Throws
// std::runtime_error when bytes are missing in the statistics.
std::string decode_bus(bool power8, std::span<const std::byte> trace, const TranslationMap& map,
                       size_t piece);

}  // namespace htmtrace::golden
