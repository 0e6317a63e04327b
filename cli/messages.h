// SPDX-License-Identifier: GPL-2.0-or-later
// Messages for users, on stderr.
#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"

namespace htmtrace {

// All functions escape control characters, which a name or a manifest from elsewhere could send to
// the terminal, except print_text().

// Prints the error, its subjects and its hints.
void print_error(const Error& error);

// Prints the current exception, which ends the command. Call this in a catch block.
void print_failure();

void print_out_of_memory();

// Prints the text unchanged; it has its own line ends. A message that cannot be written is dropped,
// without an error.
void print_text(std::string_view text);

// Prints text of several lines that a recording holds.
void print_lines(std::string_view text);

// Prints "htmtrace: TEXT".
void print_note(const std::string& text);

// Prints "htmtrace: warning: TEXT", and a line with the hint unless it is empty.
void print_warning(const std::string& text, const std::string& hint = {});

// Warns that the system cannot start all threads. `consequence` is "decoding with 2", for example.
void warn_of_fewer_threads(const std::string& consequence);

}  // namespace htmtrace
