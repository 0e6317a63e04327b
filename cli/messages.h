// SPDX-License-Identifier: GPL-2.0-or-later
// How the commands talk to people: on stderr, each line of ours marked.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace htmtrace {

// What failed, on what, and hints.
void print_error(const Error& error);

// Prints the text unchanged; it has its own line ends. A message that cannot be written is dropped,
// without an error.
void print_text(std::string_view text);

// "htmtrace: TEXT".
void print_note(const std::string& text);

// Prints "htmtrace: warning: TEXT", and a line with the hint unless it is empty.
void print_warning(const std::string& text, const std::string& hint = {});

}  // namespace htmtrace
