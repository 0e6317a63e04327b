// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/xml_text.h"

#include "core/base/plain_text.h"
#include "output/io/utf8.h"

namespace htmtrace {
namespace {

std::string_view escape_of(char letter) {
  switch (letter) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

// U+FFFE and U+FFFF.
bool is_no_character(std::string_view letter) {
  return letter == "\xef\xbf\xbe" || letter == "\xef\xbf\xbf";
}

}  // namespace

std::string xml_text(std::string_view text) {
  const std::string plain = without_controls(text);
  std::string_view rest = plain;
  std::string safe;
  while (!rest.empty()) {
    const size_t length = utf8_length(rest);
    const std::string_view letter = rest.substr(0, length);
    if (length == 0 || is_no_character(letter)) {
      safe += kReplacementCharacter;
    } else if (const std::string_view escape = escape_of(letter[0]); !escape.empty()) {
      safe += escape;
    } else {
      safe += letter;
    }
    rest.remove_prefix(length == 0 ? 1 : length);
  }
  return safe;
}

std::string short_xml_text(std::string_view text, size_t most_bytes) {
  if (text.size() <= most_bytes) return xml_text(text);
  constexpr std::string_view kGap = "...";
  const auto continues = [&](size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  // A character of several bytes stays whole, or is not shown.
  const size_t kept = most_bytes > kGap.size() ? most_bytes - kGap.size() : 0;
  size_t first = kept - kept / 2;
  while (first > 0 && continues(first)) first--;
  size_t last = text.size() - kept / 2;
  while (continues(last)) last++;
  return xml_text(text.substr(0, first)).append(kGap).append(xml_text(text.substr(last)));
}

}  // namespace htmtrace
