// SPDX-License-Identifier: GPL-2.0-or-later
// The memory that a translation file describes. htm-translation(5).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/memory_map/translation.h"

namespace htmtrace {

// The real addresses of all partitions in the file, sorted, without overlaps; adjacent ranges are
// joined. `logical` has no meaning. Accepts any bytes.
std::vector<TranslationMap::Range> known_memory(std::span<const std::byte> file);

}  // namespace htmtrace
