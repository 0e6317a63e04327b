// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/messages.h"

#include <fmt/core.h>

#include <cstdio>

namespace htmtrace {

// fmt::print() throws if it cannot write.
void print_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string without_controls(std::string_view text) {
  // UTF-8 writes U+0080 to U+009F, which terminals obey like escape sequences, with this lead byte.
  constexpr unsigned char kLeadOfControls = 0xc2;
  std::string plain;
  const auto escape = [&plain](unsigned char byte) { plain += fmt::format("\\x{:02x}", byte); };
  for (size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (byte == kLeadOfControls && next >= 0x80 && next <= 0x9f) {
      escape(byte);
      escape(next);
      i++;
    } else if (byte == '\n') {
      plain += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      escape(byte);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

void print_error(const Error& error) {
  print_note(error.what());
  for (const std::string& subject : error.subjects()) {
    print_text(fmt::format("  {}\n", without_controls(subject)));
  }
  for (const std::string& hint : error.hints()) {
    print_text(fmt::format("  hint: {}\n", without_controls(hint)));
  }
}

void print_note(const std::string& text) {
  print_text(fmt::format("htmtrace: {}\n", without_controls(text)));
}

void print_warning(const std::string& text, const std::string& hint) {
  print_note("warning: " + text);
  if (!hint.empty()) print_text(fmt::format("  hint: {}\n", without_controls(hint)));
}

void warn_of_fewer_threads(const std::string& consequence) {
  print_warning("cannot start all threads: " + consequence,
                "raise the limit of processes (ulimit -u), or that of the cgroup (pids.max)");
}

}  // namespace htmtrace
