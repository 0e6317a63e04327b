// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/csv_printer.h"

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

CsvPrinter::CsvPrinter(TextOutput& output, std::string_view target)
    : output_(output), target_(csv_field(target) + ",") {}

}  // namespace htmtrace
