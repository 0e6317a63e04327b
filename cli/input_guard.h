// SPDX-License-Identifier: GPL-2.0-or-later
// What is read must not be what is written: --force would empty it before it is read.
#pragma once

#include <string>
#include <vector>

namespace htmtrace {

// Throws Error when the file at `output` is one of those at `inputs`, or belongs to a recording
// that one of them is, or is in. "-" is standard input, and an empty `output` standard output; an
// empty input is none.
void check_is_no_input(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace htmtrace
