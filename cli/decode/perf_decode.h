// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace decode --format perf: a core trace as a perf.data file with samples.
#pragma once

#include "cli/decode/options.h"

namespace htmtrace {

// Returns the exit status. Throws Error.
int decode_to_perf(const DecodeOptions& options);

}  // namespace htmtrace
