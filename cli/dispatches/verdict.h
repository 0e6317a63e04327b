// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a replay: warnings, the report of the recording, and the exit status.
#pragma once

#include <cstdint>
#include <string>

#include "output/recording/dispatches.h"

namespace htmtrace {

// Warns about defects of the file. Returns true if the file has any.
bool warn_of_defects(const DtlReader& reader, const std::string& name);
// Prints the recording's own report, and how many entries were read.
void print_verdict(const DtlReader& reader, uint64_t taken);
// Returns the exit status. `incomplete`: the output lacks entries of the recording.
int replay_status(const DtlReader& reader, bool incomplete);

}  // namespace htmtrace
