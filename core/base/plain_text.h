// SPDX-License-Identifier: GPL-2.0-or-later
// Text of strangers (names in programs and recordings, file names) must not control a terminal.
#pragma once

#include <string>
#include <string_view>

namespace htmtrace {

// Returns whether the text may have control characters. Fast; true also for a few harmless texts.
bool has_controls(std::string_view text);

// Writes control characters as \xNN, and the end of a line as \n.
std::string without_controls(std::string_view text);

}  // namespace htmtrace
