// SPDX-License-Identifier: GPL-2.0-or-later
// Colors for the text of a report on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace htmtrace {

// Prints headings, which follow an empty line, in bold. The first share of a line is red from 5%
// on, and green from 0.5% on, as in perf.
std::string colored(std::string_view text);

}  // namespace htmtrace
