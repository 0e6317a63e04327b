// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps output and input files distinct: --force would truncate the input before htmtrace reads it.
#pragma once

#include <string>
#include <vector>

namespace htmtrace {

// Throws Error if the file at `output` is one of `inputs`, or belongs to the recording of an input.
// "-" means standard input. An empty `output` means standard output. Empty inputs are skipped.
void check_is_no_input(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace htmtrace
