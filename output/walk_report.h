// SPDX-License-Identifier: GPL-2.0-or-later
// The part of a report on cores about walks through page tables. Empty when the trace has none.
#pragma once

#include <string>

#include "core/hot_spots.h"
#include "output/json_writer.h"

namespace htmtrace {

std::string walks_text(const HotSpots& spots);
// Lines in the columns of HotSpotsReport::to_csv().
std::string walks_csv(const HotSpots& spots);
void write_walks(JsonWriter& json, const HotSpots& spots);

}  // namespace htmtrace
