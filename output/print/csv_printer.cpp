// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/csv_printer.h"

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

CsvPrinter::CsvPrinter(TextOutput& output, std::string_view target, const SymbolTable* symbols)
    : output_(output), target_(csv_field(target)), names_(symbols) {}

char* CsvPrinter::put_symbols(char* to, const Instruction& instruction) {
  const auto put = [this, &to](std::string_view name) {
    *to++ = ',';
    if (name.empty()) return;
    output_.commit(to);
    output_.put(csv_field(name));
    to = output_.room();
  };
  put(names_.code(instruction));
  for (unsigned i = 0; i < instruction.data.size(); i++) {
    put(i < instruction.data_count ? names_.data(instruction.data[i]) : std::string_view());
  }
  return to;
}

}  // namespace htmtrace
