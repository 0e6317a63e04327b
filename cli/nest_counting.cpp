// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/nest_counting.h"

#include "core/error.h"

namespace htmtrace {

void check_layout(const NestReading& reading, std::optional<nest::Layout> before) {
  if (!reading.can_be_told()) {
    throw Error("cannot report on " + reading.name() + ": the layout of its records is not known")
        .on(nest::describe(reading.evidence()))
        .hint(
            "if it is known to you, say it with --layout; report --infer-address looks for the "
            "addresses by the memory map");
  }
  if (before && *before != reading.layout()) {
    throw Error("cannot report on " + reading.name() + ": its layout is not that of the others");
  }
}

}  // namespace htmtrace
