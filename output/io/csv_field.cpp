// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/csv_field.h"

namespace htmtrace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

}  // namespace htmtrace
