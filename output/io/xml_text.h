// SPDX-License-Identifier: GPL-2.0-or-later
// Writes untrusted text (names in programs and recordings, file names) to SVG and HTML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace htmtrace {

// Returns the text for the content or a quoted attribute of an element. Escapes markup, and writes
// control characters as \xNN. Each byte that is not valid UTF-8, and each character that XML 1.0
// does not permit, becomes U+FFFD.
std::string xml_text(std::string_view text);

// The same, but replaces the middle of a longer text with "...", so that names of any length fit a
// picture or a table.
std::string short_xml_text(std::string_view text, size_t most_bytes);

}  // namespace htmtrace
