// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/messages.h"

#include <fmt/core.h>

#include <cstdio>

namespace htmtrace {
namespace {

// stderr may be gone; a recording must not end because nobody reads.
void say(const std::string& line) {
  std::fputs(line.c_str(), stderr);
}

}  // namespace

void print_error(const Error& error) {
  print_note(error.what());
  for (const std::string& subject : error.subjects()) say(fmt::format("  {}\n", subject));
  for (const std::string& hint : error.hints()) say(fmt::format("  hint: {}\n", hint));
}

void print_note(const std::string& text) {
  say(fmt::format("htmtrace: {}\n", text));
}

void print_warning(const std::string& text) {
  print_note("warning: " + text);
}

}  // namespace htmtrace
