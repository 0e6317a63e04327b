// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/messages.h"

#include <fmt/core.h>

#include <cstdio>

namespace htmtrace {

// fmt::print() would throw when it cannot write.
void print_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void print_error(const Error& error) {
  print_note(error.what());
  for (const std::string& subject : error.subjects()) print_text(fmt::format("  {}\n", subject));
  for (const std::string& hint : error.hints()) print_text(fmt::format("  hint: {}\n", hint));
}

void print_note(const std::string& text) {
  print_text(fmt::format("htmtrace: {}\n", text));
}

void print_warning(const std::string& text, const std::string& hint) {
  print_note("warning: " + text);
  if (!hint.empty()) print_text(fmt::format("  hint: {}\n", hint));
}

}  // namespace htmtrace
