// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/plain_text.h"

#include <algorithm>

namespace htmtrace {
namespace {

// UTF-8 writes U+0080 to U+009F, which terminals obey like escape sequences, with this lead byte.
constexpr unsigned char kLeadOfControls = 0xc2;

bool may_be_control(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte < 0x20 || byte == 0x7f || byte == kLeadOfControls;
}

void escape(unsigned char byte, std::string& to) {
  constexpr const char* kDigits = "0123456789abcdef";
  to += "\\x";
  to += kDigits[byte >> 4];
  to += kDigits[byte & 15];
}

}  // namespace

bool has_controls(std::string_view text) {
  return std::ranges::any_of(text, may_be_control);
}

std::string without_controls(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (byte == kLeadOfControls && next >= 0x80 && next <= 0x9f) {
      escape(byte, plain);
      escape(next, plain);
      i++;
    } else if (byte == '\n') {
      plain += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      escape(byte, plain);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace htmtrace
