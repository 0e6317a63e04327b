// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/nest_counting.h"

#include "core/base/error.h"

namespace htmtrace {

void check_layout(const NestReading& reading, std::optional<nest::Layout> before) {
  if (!reading.can_be_told()) {
    throw Error("cannot report on " + reading.name() + ": its record layout is unknown")
        .on(nest::describe(reading.evidence()))
        .hint(
            "if you know the layout, pass --layout; report --infer-address searches for the "
            "addresses with the memory map");
  }
  if (before && *before != reading.layout()) {
    throw Error("cannot report on " + reading.name() +
                ": its layout differs from the other traces'");
  }
}

}  // namespace htmtrace
