// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace decode --format avro and parquet: traces to a folder of files that engines read in
// parallel.
#pragma once

#include "cli/decode/options.h"

namespace htmtrace {

// Returns the exit status. Throws Error.
int decode_to_rows(const DecodeOptions& options);

}  // namespace htmtrace
