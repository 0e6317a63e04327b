// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the part of a core report about walks through page tables. Empty if the trace has no
// walks.
#pragma once

#include <string>

#include "core/analysis/hot_spots.h"
#include "output/io/json_writer.h"

namespace htmtrace {

std::string walks_text(const HotSpots& spots);
// Returns lines in the columns of HotSpotsReport::to_csv().
std::string walks_csv(const HotSpots& spots);
void write_walks(JsonWriter& json, const HotSpots& spots);

}  // namespace htmtrace
