// SPDX-License-Identifier: GPL-2.0-or-later
// What a translation file says of where memory is. htm-translation(5).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/translation_map.h"

namespace htmtrace {

// The real addresses of all partitions in the file: sorted, without overlaps or neighbours;
// `logical` means nothing. Any bytes will do.
std::vector<TranslationMap::Range> known_memory(std::span<const std::byte> file);

}  // namespace htmtrace
