// SPDX-License-Identifier: GPL-2.0-or-later
// File names and arguments hold arbitrary bytes, but JSON, SVG and HTML require UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace htmtrace {

// U+FFFD, which replaces bytes and characters that a format does not allow.
inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

// Returns the length of the valid UTF-8 sequence at the start of `text`, or 0 if the sequence is
// invalid. `text` must not be empty.
inline size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t index = 1; index < length; index++) {
    if ((byte(index) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and code points beyond U+10FFFF.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0)) return 0;
  if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) >= 0x90)) return 0;
  return length;
}

}  // namespace htmtrace
