// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "core/base/target.h"
#include "output/io/json_writer.h"

namespace htmtrace {

// Writes the members "node", "chip" and "core".
inline void write_core_indices(JsonWriter& json, const TraceTarget& core) {
  json.number("node", core.node);
  json.number("chip", core.chip);
  json.number("core", core.core);
}

}  // namespace htmtrace
