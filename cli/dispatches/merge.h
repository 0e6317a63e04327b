// SPDX-License-Identifier: GPL-2.0-or-later
// --merge: prints who ran while a partition waited, from the recordings of other partitions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/dispatches/replay.h"

namespace htmtrace {

void declare_dtl_merge(CLI::App& app, std::vector<std::string>& files);
// Throws CLI::ValidationError if the command line has options that exclude --merge.
void check_dtl_merge(const CLI::App& app, const DtlReplay& replay);

// Throws Error if the input of --merge exists and is not a regular file. Does not open the input.
void check_merge_input(const DtlReplay& replay);

// Returns the exit status. Throws Error.
int merge_dtl(const DtlReplay& replay, const DtlOutputOptions& options);

}  // namespace htmtrace
