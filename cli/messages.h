// SPDX-License-Identifier: GPL-2.0-or-later
// How the commands talk to people: on stderr, each line of ours marked.
#pragma once

#include <string>

#include "core/error.h"

namespace htmtrace {

// What failed, on what, and hints.
void print_error(const Error& error);

// "htmtrace: TEXT".
void print_note(const std::string& text);

// "htmtrace: warning: TEXT".
void print_warning(const std::string& text);

}  // namespace htmtrace
